package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// sideBySide is how many readers run at once: enough to use a slow line, few enough that their pages together stay small.
const sideBySide = 4

// gathering is one Snapshot in the making. Each field says who fills it.
type gathering struct {
	*Reader
	meter     *meter
	operation string
	snapshot  *cluster.Snapshot

	nodes      map[string]*cluster.Node     // by name; readNodes
	nodeSigns  map[string]nodeSign          // by kind of actor; readNodes
	namespaces map[string]labels.Set        // labels of namespaces that could be read; readNamespaces, and then only readWebhooks
	unread     map[string]bool              // namespaces that could not be; readWebhooks
	selectors  map[string][]selector        // of budgets, by namespace; readBudgets
	local      map[string]bool              // claims (namespace/name) that are bound to one node; readVolumes
	refit      error                        // why Refit's objects cannot be read; readRefit
	servers    map[string]serverPod         // of API servers, by node; readPods
	services   map[string]bool              // namespace/name, nil if they could not be read; readServices
	leases     map[string]lease             // of kube-system, by name; readLeases
	versions   map[string]map[string]string // resourceVersions by kind and name; note
	heard      map[string]map[string]string // those that a watch has told of already, nil if there is none; before it begins

	mu       sync.Mutex                  // of versions and of what is below
	backends map[string]*cluster.Backend // that something stands on, by namespace/name; use backend
	telling  sync.Mutex                  // held while Progress is called
}

func newGathering(r *Reader, operation string, m *meter) *gathering {
	return &gathering{
		Reader: r, meter: m, operation: operation, snapshot: &cluster.Snapshot{Nodes: []cluster.Node{}},
		nodes: map[string]*cluster.Node{}, nodeSigns: map[string]nodeSign{}, namespaces: map[string]labels.Set{}, unread: map[string]bool{},
		selectors: map[string][]selector{}, local: map[string]bool{}, servers: map[string]serverPod{}, leases: map[string]lease{},
		versions: map[string]map[string]string{kindNode: {}, kindUpgrade: {}, kindReport: {}}, backends: map[string]*cluster.Backend{},
	}
}

// gather runs all readers, stage by stage.
func (g *gathering) gather(ctx context.Context) error {
	if err := g.readVersion(ctx); err != nil {
		return err
	}
	for _, stage := range stages {
		var group errgroup.Group // without a context of its own: a request that is cut off midway makes client-go complain on stderr
		group.SetLimit(sideBySide)
		for _, r := range stage {
			group.Go(func() error { return g.run(ctx, r) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	slices.SortFunc(g.snapshot.Gaps, func(a, b cluster.Gap) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	return nil
}

// run runs one reader. What it cannot read is a Gap, unless nothing can be said without it.
func (g *gathering) run(ctx context.Context, r reader) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.tell(r.says)
	err := r.read(g, ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // it says nothing about the cluster
		return fmt.Errorf("reading %s: %w", r.says, errors.Join(context.Cause(ctx), err))
	case r.part == cluster.PartNodes:
		return fmt.Errorf("a cluster cannot be looked at without its nodes: %w", err)
	default:
		g.missed(r.part, "", err)
		return nil
	}
}

// gap remembers what could not be read.
func (g *gathering) gap(gap cluster.Gap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.snapshot.Gaps = append(g.snapshot.Gaps, gap)
}

// missed remembers that a part, or one object of it, could not be read from the endpoint. The endpoint was within reach when the reading began,
// so a request that was lost or took too long has failed. Only an address of its own may be out of reach: see askServer and readEndpoint.
func (g *gathering) missed(part cluster.Part, object string, err error) {
	gap := gapOf(part, object, err)
	if gap.Kind == cluster.GapUnreachable {
		gap.Kind = cluster.GapFailed
	}
	g.gap(gap)
}

// The kinds whose resourceVersions are remembered.
const (
	kindNode    = "Node"
	kindUpgrade = "NodeUpgrade"
	kindReport  = "NodeReport"
)

// note remembers which version of an object was read.
func (g *gathering) note(kind, name, version string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.versions[kind][name] = version
}

// keep says whether a node's order or report that was read has to be kept, and notes its version. One that a watch has told of is there already: a second
// one of each of five thousand would be many. Those of control plane nodes are looked at while the reading is made.
func (g *gathering) keep(n *cluster.Node, kind, version string) bool {
	g.note(kind, n.Name, version)
	heard, known := g.heard[kind][n.Name]
	return n.ControlPlane || !known || Older(heard, version)
}

// backend is the entry of a Service, made when it is first asked for; readBackends fills it.
func (g *gathering) backend(namespace, service string) *cluster.Backend {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := namespace + "/" + service
	if g.backends[key] == nil {
		g.backends[key] = &cluster.Backend{Namespace: namespace, Service: service}
	}
	return g.backends[key]
}

func (g *gathering) tell(what string) {
	if g.options.Progress == nil {
		return
	}
	g.telling.Lock()
	defer g.telling.Unlock()
	g.options.Progress(what)
}
