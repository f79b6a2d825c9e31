package plan

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// Plan is how a cluster gets from its current state to the target under a policy.
type Plan struct {
	// Hash is what the user approves. hash.go defines what it covers.
	Hash string

	From        string // the control plane's version
	WorkersFrom string // the version of the oldest worker
	To          string

	Hops   []Hop
	Stages []Stage
	Pools  []Pool

	// Excluded are nodes that the plan does not upgrade.
	Excluded []ExcludedNode
	// Notes are decisions about the whole plan, in the order in which a reader needs them.
	Notes []Note

	Estimate Estimate

	// components are the steps of all stages of components.
	components []componentplan.Step

	spec    refitv1alpha1.ClusterUpgradeSpec // with its defaults
	problem error                            // why the plan cannot be made again, see Recorded
}

// Hop is one version of the control plane on the path to the target.
type Hop struct {
	Kubernetes string
	Release    *refitv1alpha1.ReleaseRef // nil if the cluster has none yet
	Etcd       EtcdMove
	Minor      bool // another minor version than before, so nodes are drained
}

// EtcdMove is how a hop changes etcd.
type EtcdMove struct {
	From   string
	To     string
	Reason string // why etcd does not change
}

// Stage is a part of the plan. Stages run in sequence.
type Stage struct {
	Name       refitv1alpha1.StageName
	Hop        int // index into Hops
	Kubernetes string
	Reason     string
	// Nodes are the nodes of the stage in their expected order. Next decides the actual one.
	Nodes []NodeStep
	// Components are the components of the stage, one after the other.
	Components []ComponentStep
	Estimate   Estimate
}

// ComponentStep is the part of a stage for one component.
type ComponentStep struct {
	componentplan.Step

	// Offer is what the step changes, nil if that is not known yet.
	Offer    *refitv1alpha1.ComponentOffer
	Estimate Estimate
}

// NodeStep is the part of a stage for one node.
type NodeStep struct {
	Node     string
	Pool     string // workers
	Zone     string
	From     string
	To       string
	UpToDate bool // it runs the version already
	Drain    bool
	Canary   bool
	Moves    int // pods that a drain moves
	// Reason is why the node has this place in the order, if it differs from the stage's reason.
	Reason string
	// Conflicts are a few of the nodes that are not upgraded together with it.
	Conflicts []Conflict
	Estimate  Estimate
}

// Conflict is a node that is not upgraded together with another one, such as for a shared budget.
type Conflict struct {
	Node   string
	Reason string
}

// Pool is the resolved policy of a pool of workers.
type Pool struct {
	Name           string
	Nodes          int // that the plan upgrades
	MaxUnavailable int // as a number of nodes
	Zones          []string
	Canary         *refitv1alpha1.Canary
	Drain          refitv1alpha1.Drain
	Selector       map[string]string
	Estimate       Estimate
}

// ExcludedNode is a node that a plan does not upgrade.
type ExcludedNode struct {
	Node   string
	Reason string
}

// Note is a decision and its reason.
type Note struct {
	Decision string
	Reason   string
}

// Estimate is an expected duration. It is Observed if earlier upgrades of this cluster took as
// long, else it follows from Refit's defaults.
type Estimate struct {
	Expected time.Duration
	Observed bool
}
