package observe

import (
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// kept are the objects of a cache.
type kept struct {
	nodes    []corev1.Node
	upgrades []refitv1alpha1.NodeUpgrade
	reports  []refitv1alpha1.NodeReport
}

// watched returns the kept objects.
func (k *kept) watched() Watched {
	return Watched{
		reflect.TypeFor[*corev1.Node](): store[corev1.Node]{&k.nodes}, reflect.TypeFor[*refitv1alpha1.NodeUpgrade](): store[refitv1alpha1.NodeUpgrade]{&k.upgrades},
		reflect.TypeFor[*refitv1alpha1.NodeReport]():     store[refitv1alpha1.NodeReport]{&k.reports},
		reflect.TypeFor[*refitv1alpha1.ClusterUpgrade](): store[refitv1alpha1.ClusterUpgrade]{new([]refitv1alpha1.ClusterUpgrade)},
		reflect.TypeFor[*refitv1alpha1.ClusterRelease](): store[refitv1alpha1.ClusterRelease]{new([]refitv1alpha1.ClusterRelease)},
	}
}

// store is a cache of one kind.
type store[T any] struct{ items *[]T }

// List returns the kept objects unsorted, as a cache does.
func (s store[T]) List() []any {
	var out []any
	for i := range slices.Backward(*s.items) {
		out = append(out, &(*s.items)[i])
	}
	return out
}

func TestUnwatchedKindIsAnError(t *testing.T) {
	w := readOf(&kept{}, "worker-1")
	delete(w.watched, reflect.TypeFor[*refitv1alpha1.NodeReport]())
	if _, err := w.Snapshot(operation()); err == nil {
		t.Error("an unwatched kind seems to be empty")
	}
}

func operation() *refitv1alpha1.ClusterUpgrade {
	return &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "upgrade", UID: "operation"}}
}

func named(name, version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), ResourceVersion: version}
}

func node(name, version, kubelet string) corev1.Node {
	return corev1.Node{ObjectMeta: named(name, version), Status: corev1.NodeStatus{
		NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: kubelet, ContainerRuntimeVersion: "containerd://2.1.5", KernelVersion: "6.1", OperatingSystem: "linux", Architecture: "amd64"},
		Addresses:   []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("250")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
}

func upgrade(name, version string, phase refitv1alpha1.NodePhase) refitv1alpha1.NodeUpgrade {
	return refitv1alpha1.NodeUpgrade{ObjectMeta: named(name, version), Status: refitv1alpha1.NodeUpgradeStatus{Phase: phase}}
}

// readOf is a World whose full read has a node, its NodeUpgrade and its report, each at version 10.
func readOf(watched *kept, names ...string) *World {
	obs := newObservation(nil, "", &meter{})
	obs.snapshot.Workloads = []cluster.Workload{{Kind: "Deployment", Name: "cart"}, {Kind: "DaemonSet", Name: "kube-proxy"}}
	for _, name := range names {
		obs.snapshot.Nodes = append(obs.snapshot.Nodes, cluster.Node{
			Name: name, UID: name + "-uid", Kubelet: "v1.35.4", Pods: []cluster.PodSet{{Workload: 0, Count: 3}, {Workload: 1, Count: 1}},
			Upgrade: &cluster.Upgrade{Status: refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodePrefetched}},
			Report:  &refitv1alpha1.NodeReportStatus{BootID: "read"},
		})
	}
	for i := range obs.snapshot.Nodes {
		n := &obs.snapshot.Nodes[i]
		obs.nodes[n.Name] = n
		for _, kind := range []string{kindNode, kindUpgrade, kindReport} {
			obs.noteVersion(kind, n.Name, "10")
		}
	}
	return &World{watched: watched.watched(), last: obs, lastAt: time.Now(), opened: map[string]openedRelease{}}
}

func snapshotNodes(t *testing.T, w *World) []cluster.Node {
	t.Helper()
	s, err := w.Snapshot(operation())
	if err != nil {
		t.Fatal(err)
	}
	return s.Nodes
}

func TestNewerOfWatchAndReadingCounts(t *testing.T) {
	for name, c := range map[string]struct {
		version, kubelet, boot string
		phase                  refitv1alpha1.NodePhase
	}{
		"the watch is newer":      {"11", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
		"both are the same":       {"10", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
		"the watch is stalled":    {"9", "v1.35.4", "read", refitv1alpha1.NodePrefetched},
		"they cannot be compared": {"", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			w := readOf(&kept{
				nodes:    []corev1.Node{node("worker-1", c.version, "v1.36.3")},
				upgrades: []refitv1alpha1.NodeUpgrade{upgrade("worker-1", c.version, refitv1alpha1.NodeSucceeded)},
				reports:  []refitv1alpha1.NodeReport{{ObjectMeta: named("worker-1", c.version), Status: refitv1alpha1.NodeReportStatus{BootID: "watched"}}},
			}, "worker-1")
			for range 2 { // the first Snapshot frees a part of the full read
				n := snapshotNodes(t, w)[0]
				if n.Kubelet != c.kubelet || n.Upgrade.Status.Phase != c.phase || n.Report.BootID != c.boot {
					t.Errorf("got %s, %s and %s", n.Kubelet, n.Upgrade.Status.Phase, n.Report.BootID)
				}
				if n.Pods[0].Count != 3 {
					t.Errorf("the pods are %v", n.Pods)
				}
			}
		})
	}
}

func TestNodesAreSortedByName(t *testing.T) {
	w := readOf(&kept{nodes: []corev1.Node{node("worker-1", "11", ""), node("worker-2", "11", ""), node("worker-4", "11", "")}}, "worker-1", "worker-3")
	var names []string
	for _, n := range snapshotNodes(t, w) {
		names = append(names, n.Name)
	}
	if want := []string{"worker-1", "worker-2", "worker-3", "worker-4"}; !slices.Equal(names, want) {
		t.Errorf("the order is %v", names)
	}
}

func TestNodesWithoutMachinesAreListedSeparately(t *testing.T) {
	turin := node("turin", "11", "v1.35.4")
	turin.Status.NodeInfo.ContainerRuntimeVersion, turin.Status.NodeInfo.KernelVersion = "", ""
	joining := node("joining", "11", "")
	joining.Status.NodeInfo = corev1.NodeSystemInfo{} // its kubelet has not reported yet
	w := readOf(&kept{nodes: []corev1.Node{node("worker-1", "11", "v1.35.4"), turin, joining}}, "worker-1")
	s, err := w.Snapshot(operation())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 2 || s.Nodes[0].Name != "joining" || s.Nodes[1].Name != "worker-1" || !slices.Equal(s.VirtualNodes, []string{"turin"}) {
		t.Errorf("the nodes are %v, and without machines %v", s.Nodes, s.VirtualNodes)
	}
}

func TestDeletedUpgradeAndReportAreGone(t *testing.T) {
	watched := &kept{
		nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{upgrade("worker-1", "11", refitv1alpha1.NodeSucceeded)},
	}
	w := readOf(watched, "worker-1")
	snapshotNodes(t, w)
	watched.upgrades = nil
	if n := snapshotNodes(t, w)[0]; n.Upgrade != nil || n.Report == nil {
		t.Errorf("got NodeUpgrade %+v and report %+v", n.Upgrade, n.Report)
	}
}

func TestNodeThatWasDrainedAfterTheReadingHasNoPods(t *testing.T) {
	drained := upgrade("worker-1", "11", refitv1alpha1.NodePrefetched)
	watched := &kept{nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{drained}}
	w := readOf(watched, "worker-1")
	at := metav1.NewTime(w.lastAt.Add(time.Second))
	watched.upgrades[0].Status.Drain = &refitv1alpha1.DrainStatus{Phase: refitv1alpha1.DrainDrained, CompletionTime: &at}
	if n := snapshotNodes(t, w)[0]; len(n.Pods) != 1 || n.Pods[0].Workload != 1 {
		t.Errorf("the pods are %v", n.Pods)
	}
}

func TestLogTailIsDropped(t *testing.T) {
	failed := upgrade("worker-1", "11", refitv1alpha1.NodeFailed)
	failed.Status.Error = &refitv1alpha1.NodeError{Message: "no", LogTail: "secret"}
	w := readOf(&kept{nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{failed}}, "worker-1")
	if e := snapshotNodes(t, w)[0].Upgrade.Status.Error; e.LogTail != "" || e.Message != "no" {
		t.Errorf("got %+v", e)
	}
	if failed.Status.Error.LogTail == "" {
		t.Error("the object in the cache was changed")
	}
}

// On a large cluster a full read takes long, so waiting for two would delay every decision.
func TestReadingIsSharedIfItIsRecentEnough(t *testing.T) {
	w := readOf(&kept{}, "worker-1")
	start := w.lastAt
	if err := w.ReadSince(t.Context(), start.Add(-time.Second)); err != nil || !w.lastAt.Equal(start) {
		t.Errorf("the cluster was read again: %v", err)
	}
	if w.readSince(start.Add(time.Second)) {
		t.Error("a reading that is too old was used")
	}
	w.changed = true
	if w.readSince(start.Add(-time.Second)) {
		t.Error("an outdated reading was used")
	}
}

func TestReadingKeepsWhatNoWatchHas(t *testing.T) {
	watchedVersions := map[string]map[string]string{kindUpgrade: {"node": "10"}}
	for name, c := range map[string]struct {
		watchedVersions map[string]map[string]string
		node            cluster.Node
		version         string
		kept            bool
	}{
		"the same as the watched one":   {watchedVersions, cluster.Node{Name: "node"}, "10", false},
		"older than the watched one":    {watchedVersions, cluster.Node{Name: "node"}, "9", false},
		"newer: the watch is stalled":   {watchedVersions, cluster.Node{Name: "node"}, "11", true},
		"of a node that is not watched": {watchedVersions, cluster.Node{Name: "another"}, "10", true},
		"of a control plane node":       {watchedVersions, cluster.Node{Name: "node", ControlPlane: true}, "10", true},
		"without a watch":               {nil, cluster.Node{Name: "node"}, "10", true},
	} {
		t.Run(name, func(t *testing.T) {
			obs := newObservation(nil, "", &meter{})
			obs.watchedVersions = c.watchedVersions
			if kept := obs.keep(&c.node, kindUpgrade, c.version); kept != c.kept {
				t.Errorf("kept: %t, want %t", kept, c.kept)
			}
			if noted := obs.versions[kindUpgrade][c.node.Name]; noted != c.version {
				t.Errorf("recorded version %q, want %s", noted, c.version)
			}
		})
	}
}
