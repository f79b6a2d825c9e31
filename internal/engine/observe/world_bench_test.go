package observe

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// BenchmarkLook looks at a large cluster in the middle of an operation: what every decision begins with.
func BenchmarkLook(b *testing.B) {
	w := large(5000, 150_000)
	for b.Loop() {
		s, err := w.Look(operation())
		if err != nil || len(s.Nodes) != 5000 {
			b.Fatal(err)
		}
	}
}

// large is a World that was read, and in which every node has an agent and an order.
func large(nodes, pods int) *World {
	g := newGathering(nil, "", &meter{})
	g.snapshot = clustertest.Synthetic(nodes, pods, 1)
	clustertest.Agents()(g.snapshot)
	watched := &kept{}
	at := metav1.Now()
	for i := range g.snapshot.Nodes {
		n := &g.snapshot.Nodes[i]
		g.nodes[n.Name] = n
		for _, kind := range []string{kindNode, kindUpgrade, kindReport} {
			g.note(kind, n.Name, "1000")
		}
		u := upgrade(n.Name, "1001", refitv1alpha1.NodeSucceeded)
		for i := range 20 {
			u.Status.Steps = append(u.Status.Steps, refitv1alpha1.StepStatus{Name: fmt.Sprintf("step-%d", i), StartTime: &at, CompletionTime: &at})
		}
		watched.nodes = append(watched.nodes, node(n.Name, "1001", n.Kubelet))
		watched.upgrades = append(watched.upgrades, u)
		watched.reports = append(watched.reports, refitv1alpha1.NodeReport{ObjectMeta: u.ObjectMeta, Status: *n.Report})
	}
	return &World{watched: watched.watched(), last: g, lastAt: time.Now(), opened: map[string]openedRelease{}}
}
