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

// kept are objects as a cache holds them.
type kept struct {
	nodes    []corev1.Node
	upgrades []refitv1alpha1.NodeUpgrade
	reports  []refitv1alpha1.NodeReport
}

// watched hands out what is kept.
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

// List hands out what is kept, not in its order, as a cache does.
func (s store[T]) List() []any {
	var out []any
	for i := range slices.Backward(*s.items) {
		out = append(out, &(*s.items)[i])
	}
	return out
}

func TestAKindThatNobodyWatchesIsAnError(t *testing.T) {
	w := readOf(&kept{}, "worker-1")
	delete(w.watched, reflect.TypeFor[*refitv1alpha1.NodeReport]())
	if _, err := w.Look(operation()); err == nil {
		t.Error("it looked as if there were none")
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
		NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: kubelet, OperatingSystem: "linux", Architecture: "amd64"},
		Addresses:   []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("128Gi"), "pods": resource.MustParse("250")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
}

func upgrade(name, version string, phase refitv1alpha1.NodePhase) refitv1alpha1.NodeUpgrade {
	return refitv1alpha1.NodeUpgrade{ObjectMeta: named(name, version), Status: refitv1alpha1.NodeUpgradeStatus{Phase: phase}}
}

// readOf is a World whose reading saw a node with its work and its report, each at version 10.
func readOf(watched *kept, names ...string) *World {
	g := newGathering(nil, "", &meter{})
	g.snapshot.Workloads = []cluster.Workload{{Kind: "Deployment", Name: "cart"}, {Kind: "DaemonSet", Name: "kube-proxy"}}
	for _, name := range names {
		g.snapshot.Nodes = append(g.snapshot.Nodes, cluster.Node{
			Name: name, UID: name + "-uid", Kubelet: "v1.35.4", Pods: []cluster.PodSet{{Workload: 0, Count: 3}, {Workload: 1, Count: 1}},
			Upgrade: &cluster.Upgrade{Status: refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodePrefetched}},
			Report:  &refitv1alpha1.NodeReportStatus{BootID: "read"},
		})
	}
	for i := range g.snapshot.Nodes {
		n := &g.snapshot.Nodes[i]
		g.nodes[n.Name] = n
		for _, kind := range []string{kindNode, kindUpgrade, kindReport} {
			g.note(kind, n.Name, "10")
		}
	}
	return &World{watched: watched.watched(), last: g, lastAt: time.Now(), opened: map[string]openedRelease{}}
}

func look(t *testing.T, w *World) []cluster.Node {
	t.Helper()
	s, err := w.Look(operation())
	if err != nil {
		t.Fatal(err)
	}
	return s.Nodes
}

func TestTheNewerOfWatchAndReadingCounts(t *testing.T) {
	for name, c := range map[string]struct {
		version, kubelet, boot string
		phase                  refitv1alpha1.NodePhase
	}{
		"the watch has gone on":   {"11", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
		"both are the same":       {"10", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
		"the watch is frozen":     {"9", "v1.35.4", "read", refitv1alpha1.NodePrefetched},
		"they cannot be compared": {"", "v1.36.3", "watched", refitv1alpha1.NodeSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			w := readOf(&kept{
				nodes:    []corev1.Node{node("worker-1", c.version, "v1.36.3")},
				upgrades: []refitv1alpha1.NodeUpgrade{upgrade("worker-1", c.version, refitv1alpha1.NodeSucceeded)},
				reports:  []refitv1alpha1.NodeReport{{ObjectMeta: named("worker-1", c.version), Status: refitv1alpha1.NodeReportStatus{BootID: "watched"}}},
			}, "worker-1")
			for range 2 { // the first look lets go of some of what was read
				n := look(t, w)[0]
				if n.Kubelet != c.kubelet || n.Upgrade.Status.Phase != c.phase || n.Report.BootID != c.boot {
					t.Errorf("it saw %s, %s and %s", n.Kubelet, n.Upgrade.Status.Phase, n.Report.BootID)
				}
				if n.Pods[0].Count != 3 {
					t.Errorf("it saw the pods %v", n.Pods)
				}
			}
		})
	}
}

func TestNodesComeByName(t *testing.T) {
	w := readOf(&kept{nodes: []corev1.Node{node("worker-1", "11", ""), node("worker-2", "11", ""), node("worker-4", "11", "")}}, "worker-1", "worker-3")
	var names []string
	for _, n := range look(t, w) {
		names = append(names, n.Name)
	}
	if want := []string{"worker-1", "worker-2", "worker-3", "worker-4"}; !slices.Equal(names, want) {
		t.Errorf("they came as %v", names)
	}
}

func TestWorkThatTheWatchSawGoIsGone(t *testing.T) {
	watched := &kept{
		nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{upgrade("worker-1", "11", refitv1alpha1.NodeSucceeded)},
	}
	w := readOf(watched, "worker-1")
	look(t, w)
	watched.upgrades = nil
	if n := look(t, w)[0]; n.Upgrade != nil || n.Report == nil {
		t.Errorf("it saw the work %+v and the report %+v", n.Upgrade, n.Report)
	}
}

func TestANodeThatWasEmptiedAfterTheReadingIsEmpty(t *testing.T) {
	drained := upgrade("worker-1", "11", refitv1alpha1.NodePrefetched)
	watched := &kept{nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{drained}}
	w := readOf(watched, "worker-1")
	at := metav1.NewTime(w.lastAt.Add(time.Second))
	watched.upgrades[0].Status.Drain = &refitv1alpha1.DrainStatus{Phase: refitv1alpha1.DrainDrained, CompletionTime: &at}
	if n := look(t, w)[0]; len(n.Pods) != 1 || n.Pods[0].Workload != 1 {
		t.Errorf("it saw the pods %v", n.Pods)
	}
}

func TestALogTailIsSeenByNobody(t *testing.T) {
	failed := upgrade("worker-1", "11", refitv1alpha1.NodeFailed)
	failed.Status.Error = &refitv1alpha1.NodeError{Message: "no", LogTail: "secret"}
	w := readOf(&kept{nodes: []corev1.Node{node("worker-1", "11", "")}, upgrades: []refitv1alpha1.NodeUpgrade{failed}}, "worker-1")
	if e := look(t, w)[0].Upgrade.Status.Error; e.LogTail != "" || e.Message != "no" {
		t.Errorf("it saw %+v", e)
	}
	if failed.Status.Error.LogTail == "" {
		t.Error("what the cache holds was changed")
	}
}

// A reading that somebody else has just made is not made again: where it takes ten seconds, to wait for two would hold a whole cluster up.
func TestAReadingThatIsUnderWayIsSharedIfItIsYoungEnough(t *testing.T) {
	w := readOf(&kept{}, "worker-1")
	begun := w.lastAt
	if err := w.ReadSince(t.Context(), begun.Add(-time.Second)); err != nil || !w.lastAt.Equal(begun) {
		t.Errorf("it read again: %v", err)
	}
	if w.readSince(begun.Add(time.Second)) {
		t.Error("one that is too old would do")
	}
	w.changed = true
	if w.readSince(begun.Add(-time.Second)) {
		t.Error("one that is outdated would do")
	}
}

func TestAReadingKeepsWhatNoWatchHasToldOf(t *testing.T) {
	heard := map[string]map[string]string{kindUpgrade: {"node": "10"}}
	for name, c := range map[string]struct {
		heard   map[string]map[string]string
		node    cluster.Node
		version string
		kept    bool
	}{
		"the same as is watched":            {heard, cluster.Node{Name: "node"}, "10", false},
		"older than what is watched":        {heard, cluster.Node{Name: "node"}, "9", false},
		"newer: the watch froze":            {heard, cluster.Node{Name: "node"}, "11", true},
		"of a node that the watch lacks":    {heard, cluster.Node{Name: "another"}, "10", true},
		"of a control plane node":           {heard, cluster.Node{Name: "node", ControlPlane: true}, "10", true},
		"of a Snapshot that watches nobody": {nil, cluster.Node{Name: "node"}, "10", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGathering(nil, "", &meter{})
			g.heard = c.heard
			if kept := g.keep(&c.node, kindUpgrade, c.version); kept != c.kept {
				t.Errorf("kept: %t, want %t", kept, c.kept)
			}
			if noted := g.versions[kindUpgrade][c.node.Name]; noted != c.version {
				t.Errorf("it noted version %q, want %s", noted, c.version)
			}
		})
	}
}
