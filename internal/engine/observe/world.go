package observe

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// World is a cluster during an operation. Every Snapshot has the watched state of nodes, orders,
// reports, operations, backups, components and ClusterReleases. Everything else, above all pods, is
// read from the API at intervals and kept folded. Each full read also shows what a stalled watch
// has missed: of each object the newer version counts.
type World struct {
	reader  *Reader
	watched Watched

	reading    sync.Mutex // held during a full read
	background atomic.Bool
	mu         sync.Mutex
	last       *observation
	lastAt     time.Time     // start of the last full read
	took       time.Duration // and its duration
	changed    bool          // a control plane node changed since, or a node left
	opened     map[string]openedRelease
}

// openedRelease is a decoded ClusterRelease: its envelope is large and immutable.
type openedRelease struct {
	version string
	release cluster.Release
}

// NewWorld returns a World. watched must have Nodes, NodeUpgrades, NodeReports, ClusterUpgrades and
// ClusterReleases, which may be trimmed by Trim. It also has EtcdBackups and BackupStores,
// MaintenanceWindows, and Components and ComponentUpgrades, unless the cluster does not serve them.
func NewWorld(reader *Reader, watched Watched) *World {
	return &World{reader: reader, watched: watched, opened: map[string]openedRelease{}}
}

// errNotRead is the error of a Snapshot before the first full read.
var errNotRead = errors.New("the cluster has not been read yet")

// Snapshot returns the current Snapshot for an operation, which the caller has just read.
func (w *World) Snapshot(operation *refitv1alpha1.ClusterUpgrade) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return nil, errNotRead
	}
	s := *w.last.snapshot
	s.TakenAt, s.Operation, s.Others = time.Now().UTC(), operationOf(operation), nil
	if err := w.mergeNodes(&s); err != nil {
		return nil, err
	}
	if err := w.mergeReleases(&s); err != nil {
		return nil, err
	}
	all, err := each[refitv1alpha1.ClusterUpgrade](w.watched)
	if err != nil {
		return nil, err
	}
	s.Others = unfinished(all, operation.Name)
	w.mergeBackups(&s)
	w.mergeWindows(&s)
	w.mergeComponents(&s)
	return &s, nil
}

// watchLag is how long a node may be in the last full read but not in a watch before the cluster is
// read again.
const watchLag = 2 * time.Second

// mergeNodes merges the watched nodes with those of the last full read.
func (w *World) mergeNodes(s *cluster.Snapshot) error {
	nodes, err := each[corev1.Node](w.watched)
	upgrades, also := each[refitv1alpha1.NodeUpgrade](w.watched)
	reports, too := each[refitv1alpha1.NodeReport](w.watched)
	if err := errors.Join(err, also, too); err != nil {
		return err
	}
	nodes, s.VirtualNodes = withMachines(nodes)
	// Sorting pointers is cheaper than sorting the values later.
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	s.Nodes = make([]cluster.Node, 0, len(nodes))
	for _, node := range nodes {
		n := Node(node)
		if read := w.last.nodes[n.Name]; read != nil {
			n = newerNode(n, read, node.ResourceVersion, w.last.versions[kindNode][n.Name])
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Nodes = withUnwatched(s.Nodes, w.last.snapshot.Nodes)
	// A node that left would stay until the next full read.
	w.changed = w.changed || len(s.Nodes) > len(nodes) && time.Since(w.lastAt) > max(watchLag, 3*w.took)
	seen := make(map[string]*cluster.Node, len(s.Nodes))
	for i := range s.Nodes {
		seen[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for _, u := range upgrades {
		if n := seen[u.Name]; n != nil {
			w.mergeUpgrade(s, n, u)
		}
	}
	for _, r := range reports {
		if n := seen[r.Name]; n != nil {
			w.mergeReport(n, r)
		}
	}
	return nil
}

// withMachines returns the nodes that have machines, and the names of the others.
func withMachines(nodes []*corev1.Node) (machines []*corev1.Node, others []string) {
	machines = slices.DeleteFunc(nodes, func(n *corev1.Node) bool {
		if virtual(n) {
			others = append(others, n.Name)
		}
		return virtual(n)
	})
	slices.Sort(others)
	return machines, others
}

// mergeUpgrade sets the watched NodeUpgrade of a node unless that of the full read is newer. It
// then frees the latter, which matters with thousands of nodes.
func (w *World) mergeUpgrade(s *cluster.Snapshot, n *cluster.Node, u *refitv1alpha1.NodeUpgrade) {
	version := w.last.versions[kindUpgrade][u.Name]
	if Older(u.ResourceVersion, version) {
		return
	}
	n.Upgrade = upgradeOf(u)
	if read := w.last.nodes[u.Name]; read != nil {
		read.Upgrade = nil
	}
	w.changed = w.changed || n.ControlPlane && u.Status.CompletionTime != nil && u.ResourceVersion != version
	if d := u.Status.Drain; d != nil && d.Phase == refitv1alpha1.DrainDrained && d.CompletionTime != nil && d.CompletionTime.After(w.lastAt) {
		n.Pods = notDrained(s, n.Pods) // the drain was completed after the full read
	}
}

// mergeReport sets the watched report of a node in the same way.
func (w *World) mergeReport(n *cluster.Node, r *refitv1alpha1.NodeReport) {
	if Older(r.ResourceVersion, w.last.versions[kindReport][r.Name]) {
		return
	}
	n.ReportRequest, n.Report = r.Spec.Request, &r.Status // shared, see upgradeOf
	if read := w.last.nodes[r.Name]; read != nil {
		read.Report = nil
	}
}

// withUnwatched adds nodes that are only in the full read: either they left since, or they joined
// and the watch does not have them yet. Keeping them for some time is harmless.
func withUnwatched(watched, read []cluster.Node) []cluster.Node {
	known := make(map[string]bool, len(watched))
	for i := range watched {
		known[watched[i].Name] = true
	}
	all := watched
	for i := range read {
		if !known[read[i].Name] {
			all = append(all, read[i])
		}
	}
	if len(all) > len(watched) {
		slices.SortFunc(all, func(a, b cluster.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	return all
}

// notDrained returns the pods that a drain does not evict.
func notDrained(s *cluster.Snapshot, pods []cluster.PodSet) []cluster.PodSet {
	return slices.DeleteFunc(slices.Clone(pods), func(p cluster.PodSet) bool { return s.Workloads[p.Workload].Moves() })
}

// newerNode returns the watched node with the facts of the full read, or the node of the full read
// if that is newer.
func newerNode(watched cluster.Node, read *cluster.Node, watchedVersion, readVersion string) cluster.Node {
	if watched.UID != read.UID { // it joined again under the same name
		return watched
	}
	if Older(watchedVersion, readVersion) {
		return *read
	}
	watched.Pods, watched.Static, watched.KubeProxy = read.Pods, read.Static, read.KubeProxy
	watched.Upgrade, watched.Report, watched.ReportRequest = read.Upgrade, read.Report, read.ReportRequest
	return watched
}

func (w *World) mergeReleases(s *cluster.Snapshot) error {
	releases, err := each[refitv1alpha1.ClusterRelease](w.watched)
	if err != nil {
		return err
	}
	s.Releases = nil
	for _, r := range releases {
		opened, ok := w.opened[r.Name]
		if !ok || opened.version != r.ResourceVersion {
			opened = openedRelease{r.ResourceVersion, releaseOf(r)}
			w.opened[r.Name] = opened
		}
		s.Releases = append(s.Releases, opened.release)
	}
	return nil
}

// Older reports whether a version of an object is older. Versions that cannot be compared are not.
func Older(version, than string) bool {
	if version == "" || than == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}
