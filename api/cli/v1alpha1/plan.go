package v1alpha1

import refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"

// Plan is the sequence of stages from the observed cluster to the requested version.
type Plan struct {
	Hash        string `json:"hash"`
	From        string `json:"from"`
	WorkersFrom string `json:"workersFrom,omitempty"` // the oldest worker's version
	To          string `json:"to"`

	Hops     []Hop     `json:"hops"`
	Stages   []Stage   `json:"stages"`
	Pools    []Pool    `json:"pools,omitempty"`
	LeftOut  []LeftOut `json:"leftOut,omitempty"`
	Notes    []Note    `json:"notes,omitempty"`
	Estimate Estimate  `json:"estimate"`
}

// Done is true if everything that the plan would change is at its target version already.
func (p *Plan) Done() bool {
	for _, stage := range p.Stages {
		if len(stage.Components) > 0 {
			return false
		}
		for _, node := range stage.Nodes {
			if node.From != p.To || (stage.Name == string(refitv1alpha1.StageControlPlane) && p.From != p.To) {
				return false
			}
		}
	}
	return true
}

// Hop is one version of the control plane between From and To.
type Hop struct {
	Kubernetes string    `json:"kubernetes"`
	Minor      bool      `json:"minor"`             // true if it changes the minor version
	Release    *Release  `json:"release,omitempty"` // absent: the cluster has no ClusterRelease for this hop yet
	Etcd       *EtcdMove `json:"etcd,omitempty"`
}

// Release is a reference to the ClusterRelease that a hop installs.
type Release struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// EtcdMove is the etcd upgrade of a hop. If etcd stays as it is, Reason explains why.
type EtcdMove struct {
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Stage is a part of the plan. Stages run in sequence.
type Stage struct {
	Name       string   `json:"name"` // as in the status of a ClusterUpgrade
	Hop        int      `json:"hop"`  // index into hops
	Kubernetes string   `json:"kubernetes"`
	Reason     string   `json:"reason,omitempty"`
	Nodes      []Node   `json:"nodes,omitempty"` // in the expected order
	Estimate   Estimate `json:"estimate"`
	// Components are the components of the stage, one after the other.
	Components []Component `json:"components,omitempty"`
}

// Node is what a stage does to one node.
type Node struct {
	Name     string   `json:"name"`
	Pool     string   `json:"pool,omitempty"`
	Zone     string   `json:"zone,omitempty"`
	From     string   `json:"from,omitempty"`
	Drain    bool     `json:"drain,omitempty"`
	Canary   bool     `json:"canary,omitempty"`
	Moves    int      `json:"moves,omitempty"`  // pods that the drain evicts
	Reason   string   `json:"reason,omitempty"` // why it has this place in the order
	Apart    []Apart  `json:"apart,omitempty"`
	Estimate Estimate `json:"estimate,omitzero"`
}

// Apart is a node that is not upgraded at the same time as another.
type Apart struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Pool is the policy for some of the workers.
type Pool struct {
	Name           string            `json:"name"`
	Selector       map[string]string `json:"selector,omitempty"`
	Nodes          int               `json:"nodes"`
	MaxUnavailable int               `json:"maxUnavailable"`
	Zones          []string          `json:"zones,omitempty"`
	Canary         *Canary           `json:"canary,omitempty"`
	Drain          Drain             `json:"drain"`
	Estimate       Estimate          `json:"estimate"`
}

// Canary is the number of nodes that are upgraded first, and how long they are observed.
type Canary struct {
	Nodes       int32 `json:"nodes"`
	SoakSeconds int64 `json:"soakSeconds"`
}

// Drain is how nodes are drained.
type Drain struct {
	When           string `json:"when"`
	TimeoutSeconds int64  `json:"timeoutSeconds"`
	OnBlocked      string `json:"onBlocked"`
}

// LeftOut is a node that the plan does not change.
type LeftOut struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Note is a decision about the whole plan, and its reason.
type Note struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Estimate is an expected duration.
type Estimate struct {
	Seconds  int64 `json:"seconds"`
	Observed bool  `json:"observed"` // based on durations in this cluster, not on Refit's defaults
}
