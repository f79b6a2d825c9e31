package plan

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Plan is the way from a Snapshot to a target under a policy.
type Plan struct {
	// Hash is what gets approved. See hash.go for what is in it.
	Hash string `json:"hash"`

	From        string `json:"from"`                  // the control plane's version
	WorkersFrom string `json:"workersFrom,omitempty"` // the oldest worker's
	To          string `json:"to"`

	Hops   []Hop   `json:"hops"`
	Stages []Stage `json:"stages"`
	Pools  []Pool  `json:"pools,omitempty"`

	// LeftOut are nodes that the plan does not touch.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Notes are decisions about the whole, each with its reason, in the order in which a reader needs them.
	Notes []Note `json:"notes,omitempty"`

	Estimate Estimate `json:"estimate"`

	spec refitv1alpha1.ClusterUpgradeSpec // with its defaults
}

// Hop is one version of the control plane on the way.
type Hop struct {
	Kubernetes string                    `json:"kubernetes"`
	Release    *refitv1alpha1.ReleaseRef `json:"release,omitempty"` // nil: there is none in the cluster yet
	Etcd       EtcdMove                  `json:"etcd,omitzero"`
	Minor      bool                      `json:"minor"` // another minor version than before, so nodes are drained
}

// EtcdMove is what a hop does with etcd.
type EtcdMove struct {
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason,omitempty"` // why it stays, if it does
}

// Stage is a part of the plan. Stages run one after the other.
type Stage struct {
	Name       refitv1alpha1.StageName `json:"name"`
	Hop        int                     `json:"hop"` // index into Hops
	Kubernetes string                  `json:"kubernetes"`
	Reason     string                  `json:"reason"`
	// Nodes are the nodes that it touches, in the order in which they are expected to go. Next decides on the day.
	Nodes    []NodeStep `json:"nodes,omitempty"`
	Estimate Estimate   `json:"estimate"`
}

// NodeStep is what a stage does with one node.
type NodeStep struct {
	Node   string `json:"node"`
	Pool   string `json:"pool,omitempty"` // workers
	Zone   string `json:"zone,omitempty"`
	From   string `json:"from"`
	To     string `json:"to"`
	There  bool   `json:"there,omitempty"` // it has the version already: nothing is done
	Drain  bool   `json:"drain,omitempty"`
	Canary bool   `json:"canary,omitempty"`
	Moves  int    `json:"moves,omitempty"` // pods that a drain moves
	// Reason is why it goes at this place, when there is more to say than the stage does: "holds the API endpoint's address, so it goes last".
	Reason string `json:"reason,omitempty"`
	// Apart are nodes that it does not go together with, at most a few of them, and the budget that they share.
	Apart    []Apart  `json:"apart,omitempty"`
	Estimate Estimate `json:"estimate"`
}

// Apart is a node that another one does not go together with.
type Apart struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Pool is a policy for some of the workers, resolved.
type Pool struct {
	Name           string                `json:"name"`
	Nodes          int                   `json:"nodes"`          // that the plan touches
	MaxUnavailable int                   `json:"maxUnavailable"` // as a number
	Zones          []string              `json:"zones,omitempty"`
	Canary         *refitv1alpha1.Canary `json:"canary,omitempty"`
	Drain          refitv1alpha1.Drain   `json:"drain"`
	Selector       map[string]string     `json:"selector,omitempty"`
	Estimate       Estimate              `json:"estimate"`
}

// LeftOut is a node that a plan does not touch.
type LeftOut struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// Note is a decision and its reason.
type Note struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

// Estimate is an expected time, and whether it stands on times that were observed in this cluster or on Refit's own defaults.
type Estimate struct {
	Expected time.Duration
	Observed bool
}

// MarshalJSON writes the time as people read it: {"expected":"22m30s"}.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(estimateJSON{Expected: metav1.Duration{Duration: e.Expected}, Observed: e.Observed})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	var in estimateJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*e = Estimate{Expected: in.Expected.Duration, Observed: in.Observed}
	return nil
}

type estimateJSON struct {
	Expected metav1.Duration `json:"expected"`
	Observed bool            `json:"observed,omitempty"`
}
