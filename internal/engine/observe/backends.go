package observe

import (
	"context"
	"maps"
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const (
	slicesPerPage = 500
	// namesPerRequest keeps the URL of a request short enough for proxies.
	namesPerRequest = 50
)

// readBackends finds the pods behind the Services of webhooks and aggregated APIs. A request for
// many names needs fewer requests than one per name, and fewer bytes than all EndpointSlices of a
// large cluster.
func (obs *observation) readBackends(ctx context.Context) error {
	if len(obs.backends) == 0 {
		return nil
	}
	byName := map[string][]*cluster.Backend{}
	for _, b := range obs.backends {
		byName[b.Service] = append(byName[b.Service], b)
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(byName)), namesPerRequest) {
		if err := obs.readSlices(ctx, some, byName); err != nil {
			return err
		}
	}
	return nil
}

// readSlices reads the EndpointSlices of some Services. It sets the result only when all are read:
// a Service without ready pods would seem to be down.
func (obs *observation) readSlices(ctx context.Context, names []string, byName map[string][]*cluster.Backend) error {
	found := map[*cluster.Backend]*endpoints{}
	options := metav1.ListOptions{Limit: slicesPerPage, LabelSelector: discoveryv1.LabelServiceName + " in (" + strings.Join(names, ",") + ")"}
	client := obs.client.DiscoveryV1().EndpointSlices(metav1.NamespaceAll)
	err := pages(ctx, listAll("endpointslices.discovery.k8s.io"), options, client.List, func(page *discoveryv1.EndpointSliceList) error {
		for i := range page.Items {
			slice := &page.Items[i]
			if b := obs.backends[slice.Namespace+"/"+slice.Labels[discoveryv1.LabelServiceName]]; b != nil {
				if found[b] == nil {
					found[b] = &endpoints{seen: map[string]bool{}}
				}
				found[b].add(slice)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, b := range byName[name] {
			b.Found = obs.hasService(b)
			if e := found[b]; e != nil {
				slices.Sort(e.nodes)
				b.Found, b.Ready, b.Nodes = cluster.Yes, e.ready, e.nodes
			}
		}
	}
	return nil
}

func (obs *observation) hasService(b *cluster.Backend) cluster.Answer {
	if obs.services == nil {
		return cluster.Unknown
	}
	return answer(obs.services[b.Namespace+"/"+b.Service])
}

// endpoints are the ready endpoints of a Service.
type endpoints struct {
	ready int32
	nodes []string
	seen  map[string]bool // a Service with two IP families has each pod in two slices
}

func (c *endpoints) add(slice *discoveryv1.EndpointSlice) {
	for _, e := range slice.Endpoints {
		if e.Conditions.Ready != nil && !*e.Conditions.Ready { // unset means ready
			continue
		}
		key := strings.Join(e.Addresses, ",")
		if e.TargetRef != nil {
			key = string(e.TargetRef.UID) + "/" + e.TargetRef.Name
		}
		if c.seen[key] {
			continue
		}
		c.seen[key] = true
		c.ready++
		if e.NodeName != nil {
			c.nodes = include(c.nodes, *e.NodeName)
		}
	}
}
