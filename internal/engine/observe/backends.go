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
	byName := map[string][]*cluster.Backend{}
	for _, b := range g.backends {
		byName[b.Service] = append(byName[b.Service], b)
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(byName)), namesPerQuestion) {
		if err := g.readSlices(ctx, some, byName); err != nil {
			return err
		}
	}
	return nil
}

// readSlices reads the EndpointSlices of some Services. Only when all are read is it known who is behind them: until then no Service is said to be
// there, since one without ready pods would seem to be down.
func (g *gathering) readSlices(ctx context.Context, names []string, byName map[string][]*cluster.Backend) error {
	found := map[*cluster.Backend]*endpoints{}
	options := metav1.ListOptions{Limit: slicesPerPage, LabelSelector: discoveryv1.LabelServiceName + " in (" + strings.Join(names, ",") + ")"}
	client := g.client.DiscoveryV1().EndpointSlices(metav1.NamespaceAll)
	err := pages(ctx, listAll("endpointslices.discovery.k8s.io"), options, client.List, func(page *discoveryv1.EndpointSliceList) error {
		for i := range page.Items {
			slice := &page.Items[i]
			if b := g.backends[slice.Namespace+"/"+slice.Labels[discoveryv1.LabelServiceName]]; b != nil {
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
			b.Found = g.hasService(b)
			if e := found[b]; e != nil {
				slices.Sort(e.nodes)
				b.Found, b.Ready, b.Nodes = cluster.Yes, e.ready, e.nodes
			}
		}
	}
	return nil
}

func (g *gathering) hasService(b *cluster.Backend) cluster.Answer {
	if g.services == nil {
		return cluster.Unknown
	}
	return answer(g.services[b.Namespace+"/"+b.Service])
}

// endpoints are those of a Service that are ready.
type endpoints struct {
	ready int32
	nodes []string
	seen  map[string]bool // a Service with two IP families has each pod in two slices
}

func (c *endpoints) add(slice *discoveryv1.EndpointSlice) {
	for _, e := range slice.Endpoints {
		if e.Conditions.Ready != nil && !*e.Conditions.Ready { // not said means ready
			continue
		}
		who := strings.Join(e.Addresses, ",")
		if e.TargetRef != nil {
			who = string(e.TargetRef.UID) + "/" + e.TargetRef.Name
		}
		if c.seen[who] {
			continue
		}
		c.seen[who] = true
		c.ready++
		if e.NodeName != nil {
			c.nodes = include(c.nodes, *e.NodeName)
		}
	}
}
