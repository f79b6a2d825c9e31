package node

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Memory is what a host remembers from one order to the next, on its own disk: a cluster that was restored from a backup forgets, the host does not.
type Memory struct {
	Format    int       `json:"format"`
	MachineID string    `json:"machineID"`
	NodeUID   types.UID `json:"nodeUID,omitempty"`
	// Sequence and Epoch are the highest that were accepted.
	Sequence int64 `json:"sequence"`
	Epoch    int64 `json:"epoch"`
	// Highest is the highest version of Kubernetes that the host has been proven at.
	Highest string `json:"highest,omitempty"`
	// Open is the directory of the work that has not ended; Last of the one that ended last.
	Open string `json:"open,omitempty"`
	Last string `json:"last,omitempty"`
	// Answer is what was told about the last order, if no work belongs to it.
	Answer *Answer `json:"answer,omitempty"`
	// Files are the digests of what Refit installed, by path, which tell a change by others.
	Files map[string]string `json:"files,omitempty"`
}

// Answer is what an agent told about an order that led to no work: there was nothing to do, or it could not be begun.
type Answer struct {
	Sequence int64                   `json:"sequence"`
	Phase    refitv1alpha1.NodePhase `json:"phase"`
	Failure  *Failure                `json:"failure,omitempty"`
	At       time.Time               `json:"at"`
}

// MemoryFormat is the format that this version writes. A newer one is refused.
const MemoryFormat = 1
