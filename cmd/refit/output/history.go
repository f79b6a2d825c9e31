package output

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// KindHistory is the kind of the answer of `refit history`.
const KindHistory = "History"

// History is the answer of `refit history`.
type History struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	// Operations are the newest first.
	Operations []PastOperation `json:"operations"`
}

// PastOperation is an operation that was, or is.
type PastOperation struct {
	Name      string     `json:"name"`
	Phase     string     `json:"phase"`
	Ended     bool       `json:"ended"`
	From      string     `json:"from,omitempty"`
	To        string     `json:"to"`
	Scope     string     `json:"scope"`
	CreatedAt time.Time  `json:"createdAt"`
	EndedAt   time.Time  `json:"endedAt,omitzero"`
	Nodes     NodeCounts `json:"nodes"`
	// Failed are the nodes that failed and were not mended.
	Failed []string `json:"failed,omitempty"`
	Doing  string   `json:"doing,omitempty"` // of one that has not ended
}

// NewHistory lists operations, which are given the oldest first.
func NewHistory(cluster string, all []refitv1alpha1.ClusterUpgrade) *History {
	out := &History{APIVersion: APIVersion, Kind: KindHistory, Cluster: cluster, Operations: []PastOperation{}}
	for _, u := range slices.Backward(all) {
		o := NewOperation(cluster, &u, nil, time.Time{})
		past := PastOperation{
			Name: o.Name, Phase: o.Phase, Ended: o.Ended, From: o.From, To: o.To, Scope: o.Scope, CreatedAt: o.CreatedAt, EndedAt: o.EndedAt, Nodes: o.Nodes,
		}
		for i := range o.Failures {
			past.Failed = append(past.Failed, o.Failures[i].Node)
		}
		if !o.Ended {
			past.Doing = o.Doing
		}
		out.Operations = append(out.Operations, past)
	}
	return out
}
