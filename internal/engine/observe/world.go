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

// World is a cluster while it is being changed. What moves quickly (nodes, orders, reports, operations, Releases) is taken from watched objects at every look.
// All else, pods above all, is read from the API once in a while and kept folded; that reading also shows what a watch that froze has missed: of each object
// the newer one counts.
type World struct {
	reader  *Reader
	watched Watched

	reading sync.Mutex // held while the cluster is read
	beside  atomic.Bool
	mu      sync.Mutex
	last    *gathering
	lastAt  time.Time     // when the newest reading began
	took    time.Duration // and how long it took
	changed bool          // a control plane node was, since, or a node has left
	opened  map[string]openedRelease
}

// openedRelease is a ClusterRelease that was opened once: its envelope is large, and never changes.
type openedRelease struct {
	version string
	release cluster.Release
}

// NewWorld looks at the objects that watched has. It must have Nodes, NodeUpgrades, NodeReports, ClusterUpgrades and ClusterReleases, and may have them without what
// Trim takes away.
func NewWorld(reader *Reader, watched Watched) *World {
	return &World{reader: reader, watched: watched, opened: map[string]openedRelease{}}
}

// errUnread is a look before the first reading.
var errUnread = errors.New("the cluster has not been read yet")

// Look is the cluster as it is known now, for an operation, which the caller has just read itself.
func (w *World) Look(operation *refitv1alpha1.ClusterUpgrade) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return nil, errUnread
	}
	s := *w.last.snapshot
	s.TakenAt, s.Operation, s.Others = time.Now().UTC(), operationOf(operation), nil
	if err := w.lookAtNodes(&s); err != nil {
		return nil, err
	}
	if err := w.lookAtReleases(&s); err != nil {
		return nil, err
	}
	all, err := each[refitv1alpha1.ClusterUpgrade](w.watched)
	if err != nil {
		return nil, err
	}
	s.Others = unfinished(all, operation.Name)
	return &s, nil
}

// moment is how long a node may be in a reading and not in a watch before the cluster is read anew.
const moment = 2 * time.Second

// lookAtNodes joins what is watched of each node with what was read.
func (w *World) lookAtNodes(s *cluster.Snapshot) error {
	nodes, err := each[corev1.Node](w.watched)
	upgrades, also := each[refitv1alpha1.NodeUpgrade](w.watched)
	reports, too := each[refitv1alpha1.NodeReport](w.watched)
	if err := errors.Join(err, also, too); err != nil {
		return err
	}
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) }) // who thinks would sort much larger values
	s.Nodes = make([]cluster.Node, 0, len(nodes))
	for _, node := range nodes {
		n := nodeOf(node)
		if read := w.last.nodes[n.Name]; read != nil {
			n = newer(n, read, node.ResourceVersion, w.last.versions[kindNode][n.Name])
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Nodes = withUnheard(s.Nodes, w.last.snapshot.Nodes)
	// One that has left would stay as long as the reading does.
	w.changed = w.changed || len(s.Nodes) > len(nodes) && time.Since(w.lastAt) > max(moment, 3*w.took)
	seen := make(map[string]*cluster.Node, len(s.Nodes))
	for i := range s.Nodes {
		seen[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for _, u := range upgrades {
		if n := seen[u.Name]; n != nil {
			w.lookAtUpgrade(s, n, u)
		}
	}
	for _, r := range reports {
		if n := seen[r.Name]; n != nil {
			w.lookAtReport(n, r)
		}
	}
	return nil
}

// lookAtUpgrade gives a node the work that is watched, unless an older one than was read. What was read is let go of then: two of each of five thousand would
// be many.
func (w *World) lookAtUpgrade(s *cluster.Snapshot, n *cluster.Node, u *refitv1alpha1.NodeUpgrade) {
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
		n.Pods = staying(s, n.Pods) // whoever emptied it has looked after the reading
	}
}

// lookAtReport gives a node the report that is watched, in the same way.
func (w *World) lookAtReport(n *cluster.Node, r *refitv1alpha1.NodeReport) {
	if Older(r.ResourceVersion, w.last.versions[kindReport][r.Name]) {
		return
	}
	n.Asked, n.Report = r.Spec.Request, &r.Status // which nobody changes, see upgradeOf
	if read := w.last.nodes[r.Name]; read != nil {
		read.Report = nil
	}
}

// withUnheard adds nodes that only the reading shows: each has left since, or joined and the watch has not told yet. To believe in it for a moment does no
// harm.
func withUnheard(watched, read []cluster.Node) []cluster.Node {
	heard := make(map[string]bool, len(watched))
	for i := range watched {
		heard[watched[i].Name] = true
	}
	all := watched
	for i := range read {
		if !heard[read[i].Name] {
			all = append(all, read[i])
		}
	}
	if len(all) > len(watched) {
		slices.SortFunc(all, func(a, b cluster.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	return all
}

// staying are the pods that no drain moves.
func staying(s *cluster.Snapshot, pods []cluster.PodSet) []cluster.PodSet {
	return slices.DeleteFunc(slices.Clone(pods), func(p cluster.PodSet) bool { return s.Workloads[p.Workload].Moves() })
}

// newer is a node as it is watched, with what only a reading tells; or as it was read, if that is newer.
func newer(watched cluster.Node, read *cluster.Node, watchedVersion, readVersion string) cluster.Node {
	if watched.UID != read.UID { // it joined anew under the same name
		return watched
	}
	if Older(watchedVersion, readVersion) {
		return *read
	}
	watched.Pods, watched.Static, watched.KubeProxy = read.Pods, read.Static, read.KubeProxy
	watched.Upgrade, watched.Report, watched.Asked = read.Upgrade, read.Report, read.Asked
	return watched
}

func (w *World) lookAtReleases(s *cluster.Snapshot) error {
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

// Older compares two versions of an object. What cannot be compared is not older.
func Older(version, than string) bool {
	if version == "" || than == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}
