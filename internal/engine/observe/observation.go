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

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

// maxConcurrentReaders is enough to use a slow connection, and few enough to keep the pages in
// memory small.
const maxConcurrentReaders = 4

// observation builds one Snapshot. The comment of each field names the reader that fills it.
type observation struct {
	*Reader
	meter     *meter
	operation string
	snapshot  *cluster.Snapshot

	nodes     map[string]*cluster.Node // by name; readNodes
	nodeSigns map[string]nodeSign      // by kind of actor; readNodes
	// Labels by namespace; readNamespaces, then only readWebhooks.
	namespaces map[string]labels.Set
	unread     map[string]bool       // namespaces that are not readable; readWebhooks
	selectors  map[string][]selector // of budgets, by namespace; readBudgets
	// Claims (namespace/name) that are bound to one node; readVolumes.
	local   map[string]bool
	refit   error                // why Refit's objects are not readable; readRefit
	servers map[string]serverPod // of API servers, by node; readPods
	// Fields of the ClusterConfiguration, which may contain secrets; readKubeadm.
	configured configpatch.Values
	// Namespace/name, nil if not readable; readServices.
	services map[string]bool
	leases   map[string]lease                  // of kube-system, by name; readLeases
	stores   []refitv1alpha1.BackupStore       // readBackupStores
	windows  []refitv1alpha1.MaintenanceWindow // readWindows
	backups  []refitv1alpha1.EtcdBackup        // of operations; readBackups
	// readComponents and readComponentUpgrades.
	components        []refitv1alpha1.Component
	componentUpgrades []refitv1alpha1.ComponentUpgrade

	versions map[string]map[string]string // resourceVersions by kind and name; noteVersion
	// Versions that a watch has, nil without one; set before the first reader.
	watchedVersions map[string]map[string]string

	mu        sync.Mutex                  // guards versions and the fields below
	backends  map[string]*cluster.Backend // by namespace/name; backend
	reporting sync.Mutex                  // held during calls of Progress
}

func newObservation(r *Reader, operation string, m *meter) *observation {
	return &observation{
		Reader: r, meter: m, operation: operation, snapshot: &cluster.Snapshot{Nodes: []cluster.Node{}},
		nodes: map[string]*cluster.Node{}, nodeSigns: map[string]nodeSign{}, namespaces: map[string]labels.Set{}, unread: map[string]bool{},
		selectors: map[string][]selector{}, local: map[string]bool{}, servers: map[string]serverPod{}, leases: map[string]lease{},
		versions: map[string]map[string]string{kindNode: {}, kindUpgrade: {}, kindReport: {}}, backends: map[string]*cluster.Backend{},
	}
}

// readAll runs all readers, stage by stage.
func (obs *observation) readAll(ctx context.Context) error {
	if err := obs.readVersion(ctx); err != nil {
		return err
	}
	for _, stage := range stages {
		// Without its own context: client-go logs canceled requests to stderr.
		var group errgroup.Group
		group.SetLimit(maxConcurrentReaders)
		for _, r := range stage {
			group.Go(func() error { return obs.run(ctx, r) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	slices.SortFunc(obs.snapshot.Gaps, func(a, b cluster.Gap) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	return nil
}

// run runs one reader. A part that it cannot read becomes a Gap, except the nodes.
func (obs *observation) run(ctx context.Context, r reader) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	obs.report(r.name)
	err := r.read(obs, ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // the error is not about the cluster
		return fmt.Errorf("cannot read %s: %w", r.name, errors.Join(context.Cause(ctx), err))
	case r.part == cluster.PartNodes:
		return fmt.Errorf("cannot read the nodes: %w", err)
	default:
		obs.addGap(r.part, "", err)
		return nil
	}
}

// gap adds a Gap.
func (obs *observation) gap(gap cluster.Gap) {
	obs.mu.Lock()
	defer obs.mu.Unlock()
	obs.snapshot.Gaps = append(obs.snapshot.Gaps, gap)
}

// addGap adds the Gap of a part, or of one object of it, that could not be read from the endpoint.
// The endpoint was reachable at the start, so a lost request counts as failed. Only other addresses
// may be unreachable: see probeServer and readEndpoint.
func (obs *observation) addGap(part cluster.Part, object string, err error) {
	gap := gapOf(part, object, err)
	if gap.Kind == cluster.GapUnreachable {
		gap.Kind = cluster.GapFailed
	}
	obs.gap(gap)
}

// The kinds whose resourceVersions are recorded.
const (
	kindNode    = "Node"
	kindUpgrade = "NodeUpgrade"
	kindReport  = "NodeReport"
)

// noteVersion records the version of an object.
func (obs *observation) noteVersion(kind, name, version string) {
	obs.mu.Lock()
	defer obs.mu.Unlock()
	obs.versions[kind][name] = version
}

// keep reports whether the order or report of a node must be kept, and records its version. One
// that a watch has is in memory already, which matters with thousands of nodes. Those of control
// plane nodes are needed by other readers.
func (obs *observation) keep(n *cluster.Node, kind, version string) bool {
	obs.noteVersion(kind, n.Name, version)
	have, known := obs.watchedVersions[kind][n.Name]
	return n.ControlPlane || !known || Older(have, version)
}

// backend returns the entry of a Service, which readBackends fills.
func (obs *observation) backend(namespace, service string) *cluster.Backend {
	obs.mu.Lock()
	defer obs.mu.Unlock()
	key := namespace + "/" + service
	if obs.backends[key] == nil {
		obs.backends[key] = &cluster.Backend{Namespace: namespace, Service: service}
	}
	return obs.backends[key]
}

func (obs *observation) report(what string) {
	if obs.options.Progress == nil {
		return
	}
	obs.reporting.Lock()
	defer obs.reporting.Unlock()
	obs.options.Progress(what)
}
