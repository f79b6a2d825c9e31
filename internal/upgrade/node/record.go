package node

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Work is what a journal is about: one ClusterRelease brought to one host by one operation. It does not change once it is opened.
type Work struct {
	Operation refitv1alpha1.Operation   `json:"operation"`
	Release   refitv1alpha1.ReleaseRef  `json:"release"`
	Attempt   int64                     `json:"attempt"` // the first one of this journal; a later one goes on in it unless the host was put back in between
	NodeName  string                    `json:"nodeName"`
	NodeUID   types.UID                 `json:"nodeUID"`
	MachineID string                    `json:"machineID"`
	Role      refitv1alpha1.Role        `json:"role"`
	Packages  refitv1alpha1.PackageKind `json:"packages"`
	// From and To are the versions of Kubernetes.
	From string `json:"from"`
	To   string `json:"to"`
	// Etcd says that a member runs here as a static pod, and that it changes.
	Etcd bool `json:"etcd,omitempty"`
	// Aside says that the API server is taken away before etcd is swapped.
	Aside bool `json:"aside,omitempty"`
	// KeepAddons says that CoreDNS and kube-proxy stay as they are.
	KeepAddons bool `json:"keepAddons,omitempty"`
	// CA is the digest of the cluster's CA certificate: a host that was joined to another cluster must not take up the work of the former one.
	CA string `json:"ca,omitempty"`
	// Parts are the parts that the ClusterRelease brings and that differ from what is here.
	Parts []refitv1alpha1.Part `json:"parts,omitempty"`
	// Kinds says how each of those parts got onto the host: Kubernetes may be there as packages and containerd as files, or the other way round.
	Kinds map[refitv1alpha1.Part]refitv1alpha1.PackageKind `json:"kinds,omitempty"`
}

// Kind is what a record says.
type Kind string

// The records. Those about a step are written before and after its effect.
const (
	Opened    Kind = "Opened"    // the first record of a journal
	Ordered   Kind = "Ordered"   // an order was accepted
	Begun     Kind = "Begun"     // a step is about to change something
	Done      Kind = "Done"      // it did, and its probe said so
	Failed    Kind = "Failed"    // it did not
	PutBack   Kind = "PutBack"   // from here on the host goes back
	UndoBegun Kind = "UndoBegun" // a step is about to be undone
	Undone    Kind = "Undone"    // it was, or there was nothing to undo
	Kept      Kind = "Kept"      // it stays: what it brought is forward-only and well
	Ended     Kind = "Ended"     // nothing more will be done for this work
)

// Record is one entry of a journal.
type Record struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	Boot string    `json:"boot,omitempty"`

	Work    *Work    `json:"work,omitempty"`    // Opened
	Order   *Order   `json:"order,omitempty"`   // Ordered
	Step    string   `json:"step,omitempty"`    // of all that are about a step
	Failure *Failure `json:"failure,omitempty"` // Failed, PutBack
	// Left is what a step's undo left as it is, each with the reason; of Undone and Kept.
	Left []string `json:"left,omitempty"`
	// Outcome is how the work ended.
	Outcome refitv1alpha1.NodePhase `json:"outcome,omitempty"`
}

// Order is what of an order matters while it is carried out.
type Order struct {
	Operation types.UID `json:"operation,omitempty"`
	// ByHand says that a person on the host gave it.
	ByHand bool `json:"byHand,omitempty"`

	Sequence int64                  `json:"sequence"`
	Epoch    int64                  `json:"epoch"`
	Attempt  int64                  `json:"attempt"`
	Permit   refitv1alpha1.Permit   `json:"permit"`
	Rollback refitv1alpha1.Rollback `json:"rollback"`
}
