package outage

import (
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Input is what is known while the API server is unreachable.
type Input struct {
	// Since is when the API server became unreachable, and Error that of the last request.
	Since time.Time
	Error string
	// Servers are all control plane nodes; empty if they are unknown.
	Servers []Server
	// Members is the number of etcd members that run on them; 0 if etcd is external or the
	// number is unknown.
	Members int
	// Operation and Orders are what the API server returned last, and ObservedAt when. Operation is
	// nil if none was in progress.
	Operation  *refitv1alpha1.ClusterUpgrade
	Orders     []*refitv1alpha1.NodeUpgrade
	ObservedAt time.Time
	// Agent is what the agent of this host has sent last, nil if there is none. Its ObservedAt is
	// that of the last heartbeat.
	Agent *cliv1alpha1.HostStatus
	// Usual is how long steps take; steps without an entry have no estimate.
	Usual map[string]time.Duration
	Now   time.Time
}

// Server is the API server of a control plane node.
type Server struct {
	Node  string
	Reach Reach
}

// Reach is whether an API server responds at its own address.
type Reach string

// The states of an API server.
const (
	Unchecked Reach = ""
	Responds  Reach = "responds"
	Silent    Reach = "silent"
)

// Usual returns how long the steps of control plane nodes took, by their orders: the median.
func Usual(orders []*refitv1alpha1.NodeUpgrade) map[string]time.Duration {
	all := map[string][]time.Duration{}
	for _, order := range orders {
		if order.Spec.Role == refitv1alpha1.RoleWorker {
			continue
		}
		for _, s := range order.Status.Steps {
			if s.State == refitv1alpha1.StepDone && s.StartTime != nil && s.CompletionTime != nil {
				all[s.Name] = append(all[s.Name], s.CompletionTime.Sub(s.StartTime.Time))
			}
		}
	}
	out := map[string]time.Duration{}
	for name, took := range all {
		slices.Sort(took)
		out[name] = took[len(took)/2]
	}
	return out
}
