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
	// namesPerQuestion keeps the question's URL below what proxies accept.
	namesPerQuestion = 50
)

// readBackends finds the pods behind the Services that webhooks and aggregated APIs stand on. One question for many names takes fewer requests than
// one for each, and fewer bytes than all slices of a large cluster.
func (g *gathering) readBackends(ctx context.Context) error {
	if len(g.backends) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, b := range g.backends {
		b.Found = g.hasService(b)
		names[b.Service] = true
	}
	seen := map[*cluster.Backend]map[string]bool{}
	endpoints := g.client.DiscoveryV1().EndpointSlices(metav1.NamespaceAll)
	for some := range slices.Chunk(slices.Sorted(maps.Keys(names)), namesPerQuestion) {
		options := metav1.ListOptions{Limit: slicesPerPage, LabelSelector: discoveryv1.LabelServiceName + " in (" + strings.Join(some, ",") + ")"}
		err := pages(ctx, listAll("endpointslices.discovery.k8s.io"), options, endpoints.List, func(page *discoveryv1.EndpointSliceList) error {
			for i := range page.Items {
				slice := &page.Items[i]
				if b := g.backends[slice.Namespace+"/"+slice.Labels[discoveryv1.LabelServiceName]]; b != nil {
					if seen[b] == nil {
						seen[b] = map[string]bool{}
					}
					addEndpoints(b, slice, seen[b])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, b := range g.backends {
		slices.Sort(b.Nodes)
	}
	return nil
}

func (g *gathering) hasService(b *cluster.Backend) cluster.Answer {
	if g.services == nil {
		return cluster.Unknown
	}
	return answer(g.services[b.Namespace+"/"+b.Service])
}

// addEndpoints counts the ready endpoints of a slice. A Service with two IP families has each pod in two slices, so seen tells who was counted.
func addEndpoints(b *cluster.Backend, slice *discoveryv1.EndpointSlice, seen map[string]bool) {
	b.Found = cluster.Yes
	for _, e := range slice.Endpoints {
		if e.Conditions.Ready != nil && !*e.Conditions.Ready { // not said means ready
			continue
		}
		who := strings.Join(e.Addresses, ",")
		if e.TargetRef != nil {
			who = string(e.TargetRef.UID) + "/" + e.TargetRef.Name
		}
		if seen[who] {
			continue
		}
		seen[who] = true
		b.Ready++
		if e.NodeName != nil {
			b.Nodes = include(b.Nodes, *e.NodeName)
		}
	}
}
