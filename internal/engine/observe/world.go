package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// World is a cluster while it is being changed. What moves quickly (nodes, orders, reports, operations, Releases) is taken from watched objects at every look.
// All else, pods above all, is read from the API once in a while and kept folded; that reading also shows what a watch that froze has missed: of each object
// the newer one counts.
type World struct {
	reader  *Reader
	watched client.Reader

	reading sync.Mutex // held while the cluster is read
	mu      sync.Mutex
	last    *gathering
	lastAt  time.Time     // when the newest reading began
	took    time.Duration // and how long it took
	opened  map[string]openedRelease
}

// openedRelease is a Release that was opened once: its envelope is large, and never changes.
type openedRelease struct {
	version string
	release cluster.Release
}

// NewWorld looks at the objects that watched has. It must have Nodes, NodeUpgrades, NodeReports, ClusterUpgrades and Releases, and may have them without what
// Trim takes away.
func NewWorld(reader *Reader, watched client.Reader) *World {
	return &World{reader: reader, watched: watched, opened: map[string]openedRelease{}}
}

// Read reads the whole cluster from the API. Several that ask at once share nothing: each gets a reading that began after it asked.
func (w *World) Read(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	begun := time.Now()
	m := &meter{}
	g := newGathering(w.reader, "", m)
	if err := g.gather(withMeter(ctx, m)); err != nil {
		return err
	}
	g.snapshot.Cost.Requests, g.snapshot.Cost.Bytes = m.cost()
	g.snapshot.Cost.Took = time.Since(begun)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.lastAt, w.took = g, begun, time.Since(begun)
	return nil
}

// Age is how old the newest reading is, and how long it took. It is false before the first one.
func (w *World) Age() (age, took time.Duration, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastAt), w.took, w.last != nil
}

// errUnread is a look before the first reading.
var errUnread = errors.New("the cluster has not been read yet")

// Look is the cluster as it is known now, for an operation, which the caller has just read itself.
func (w *World) Look(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (*cluster.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		return nil, errUnread
	}
	s := *w.last.snapshot
	s.TakenAt, s.Operation, s.Others = time.Now().UTC(), operationOf(operation), nil
	if err := w.lookAtNodes(ctx, &s); err != nil {
		return nil, err
	}
	if err := w.lookAtReleases(ctx, &s); err != nil {
		return nil, err
	}
	var others refitv1alpha1.ClusterUpgradeList
	if err := w.watched.List(ctx, &others, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	s.Others = unfinished(others.Items, operation.Name)
	return &s, nil
}

// lookAtNodes joins what is watched of each node with what was read.
func (w *World) lookAtNodes(ctx context.Context, s *cluster.Snapshot) error {
	var nodes corev1.NodeList
	var upgrades refitv1alpha1.NodeUpgradeList
	var reports refitv1alpha1.NodeReportList
	for _, list := range []client.ObjectList{&nodes, &upgrades, &reports} {
		if err := w.watched.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return err
		}
	}
	seen := make(map[string]int, len(nodes.Items))
	s.Nodes = make([]cluster.Node, 0, len(nodes.Items))
	for i := range nodes.Items {
		n := nodeOf(&nodes.Items[i])
		if read := w.last.nodes[n.Name]; read != nil {
			n = newer(n, read, nodes.Items[i].ResourceVersion, w.last.versions[kindNode+n.Name])
		}
		seen[n.Name] = len(s.Nodes)
		s.Nodes = append(s.Nodes, n)
	}
	for i := range w.last.snapshot.Nodes {
		// One that only the reading shows has left since, or joined and the watch has not told yet. To believe in it for a moment does no harm.
		if n := &w.last.snapshot.Nodes[i]; !known(seen, n.Name) {
			seen[n.Name] = len(s.Nodes)
			s.Nodes = append(s.Nodes, *n)
		}
	}
	for i := range upgrades.Items {
		u := &upgrades.Items[i]
		if at, ok := seen[u.Name]; ok && !Older(u.ResourceVersion, w.last.versions[kindUpgrade+u.Name]) {
			s.Nodes[at].Upgrade = upgradeOf(u)
			if d := u.Status.Drain; d != nil && d.Phase == refitv1alpha1.DrainDrained && d.FinishedAt != nil && d.FinishedAt.After(w.lastAt) {
				s.Nodes[at].Pods = staying(s, s.Nodes[at].Pods) // whoever emptied it has looked after the reading
			}
		}
	}
	for i := range reports.Items {
		r := &reports.Items[i]
		if at, ok := seen[r.Name]; ok && !Older(r.ResourceVersion, w.last.versions[kindReport+r.Name]) {
			s.Nodes[at].Asked, s.Nodes[at].Report = r.Spec.Request, r.Status.DeepCopy()
		}
	}
	return nil
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

func (w *World) lookAtReleases(ctx context.Context, s *cluster.Snapshot) error {
	var releases refitv1alpha1.ReleaseList
	if err := w.watched.List(ctx, &releases, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	s.Releases = nil
	for i := range releases.Items {
		r := &releases.Items[i]
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

func known(seen map[string]int, name string) bool {
	_, ok := seen[name]
	return ok
}
