package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Plan is the way from a Snapshot to a target under a policy.
type Plan struct {
	// Hash is what gets approved. See hash.go for what is in it.
	Hash string

	From        string // the control plane's version
	WorkersFrom string // the oldest worker's
	To          string

	Hops   []Hop
	Stages []Stage
	Pools  []Pool

	// LeftOut are nodes that the plan does not touch.
	Excluded []ExcludedNode
	// Notes are decisions about the whole, each with its reason, in the order in which a reader needs them.
	Notes []Note

	Estimate Estimate

	spec refitv1alpha1.ClusterUpgradeSpec // with its defaults
}

// Hop is one version of the control plane on the way.
type Hop struct {
	Kubernetes string
	Release    *refitv1alpha1.ReleaseRef // nil: there is none in the cluster yet
	Etcd       EtcdMove
	Minor      bool // another minor version than before, so nodes are drained
}

// EtcdMove is what a hop does with etcd.
type EtcdMove struct {
	From   string
	To     string
	Reason string // why it stays, if it does
}

// Stage is a part of the plan. Stages run one after the other.
type Stage struct {
	Name       refitv1alpha1.StageName
	Hop        int // index into Hops
	Kubernetes string
	Reason     string
	// Nodes are the nodes that it touches, in the order in which they are expected to go. Next decides on the day.
	Nodes    []NodeStep
	Estimate Estimate
}

// NodeStep is what a stage does with one node.
type NodeStep struct {
	Node     string
	Pool     string // workers
	Zone     string
	From     string
	To       string
	UpToDate bool // it has the version already: nothing is done
	Drain    bool
	Canary   bool
	Moves    int // pods that a drain moves
	// Reason is why it goes at this place, when there is more to say than the stage does: "holds the API endpoint's address, so it goes last".
	Reason string
	// Apart are nodes that it does not go together with, at most a few of them, and the budget that they share.
	Conflicts []Conflict
	Estimate  Estimate
}

// Apart is a node that another one does not go together with.
type Conflict struct {
	Node   string
	Reason string
}

// Pool is a policy for some of the workers, resolved.
type Pool struct {
	Name           string
	Nodes          int // that the plan touches
	MaxUnavailable int // as a number
	Zones          []string
	Canary         *refitv1alpha1.Canary
	Drain          refitv1alpha1.Drain
	Selector       map[string]string
	Estimate       Estimate
}

// LeftOut is a node that a plan does not touch.
type ExcludedNode struct {
	Node   string
	Reason string
}

// Note is a decision and its reason.
type Note struct {
	Decision string
	Reason   string
}

// Estimate is an expected time, and whether it stands on times that were observed in this cluster or on Refit's own defaults.
type Estimate struct {
	Expected time.Duration
	Observed bool
}
