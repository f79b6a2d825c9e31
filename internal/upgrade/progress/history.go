package progress

import (
	"cmp"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// NewHistory lists operations, which are passed oldest first.
func NewHistory(cluster string, all []refitv1alpha1.ClusterUpgrade) *cliv1alpha1.History {
	out := &cliv1alpha1.History{APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindHistory, Cluster: cluster, Operations: []cliv1alpha1.PastOperation{}}
	for _, u := range slices.Backward(all) {
		o := NewOperation(cluster, &u, nil, time.Time{})
		past := cliv1alpha1.PastOperation{
			Name: o.Name, Phase: o.Phase, Ended: o.Ended, From: o.From, To: o.To, Scope: o.Scope, StartTime: o.StartTime,
			CompletionTime: o.CompletionTime, Nodes: o.Nodes, ComponentsOnly: o.ComponentsOnly, Components: o.Components,
		}
		for i := range o.Failures {
			past.Failed = append(past.Failed, cmp.Or(o.Failures[i].Node, o.Failures[i].Component))
		}
		if !o.Ended {
			past.Message = o.Message
		}
		out.Operations = append(out.Operations, past)
	}
	return out
}
