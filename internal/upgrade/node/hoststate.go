package node

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// HostState is what a host remembers across orders on its own disk, because a cluster that is
// restored from a backup forgets.
type HostState struct {
	Format    int       `json:"format"`
	MachineID string    `json:"machineID"`
	NodeUID   types.UID `json:"nodeUID,omitempty"`
	// Sequence and Epoch are the highest that were accepted.
	Sequence int64 `json:"sequence"`
	Epoch    int64 `json:"epoch"`
	// Highest is the highest version of Kubernetes that was verified on the host.
	Highest string `json:"highest,omitempty"`
	// Open is the journal directory of the unfinished upgrade, Last of the one that finished last.
	Open string `json:"open,omitempty"`
	Last string `json:"last,omitempty"`
	// Result is the result of the last order, if it did not lead to an upgrade.
	Result *Result `json:"result,omitempty"`
	// Unresumed is why an upgrade that changed the host was neither finished nor rolled back. An
	// upgrade that succeeds clears it, or an operator who accepts the host.
	Unresumed *Failure `json:"unresumed,omitempty"`
	// Files are the digests of the files that Refit installed, by path. They reveal changes by
	// others.
	Files map[string]string `json:"files,omitempty"`
}

// Result is the result of an order that did not lead to an upgrade: there was nothing to do, or it
// could not start.
type Result struct {
	Sequence int64                   `json:"sequence"`
	Phase    refitv1alpha1.NodePhase `json:"phase"`
	Failure  *Failure                `json:"failure,omitempty"`
	At       time.Time               `json:"at"`
}

// HostStateFormat is the format that this version writes. A newer one is refused. Format 1 has no
// Result; all else is the same.
const HostStateFormat = 2
