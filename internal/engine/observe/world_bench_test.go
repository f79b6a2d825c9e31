package observe

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// BenchmarkSnapshot takes a Snapshot of a large cluster during an operation, as every decision
// does.
func BenchmarkSnapshot(b *testing.B) {
	w := large(5000, 150_000)
	for b.Loop() {
		s, err := w.Snapshot(operation())
		if err != nil || len(s.Nodes) != 5000 {
			b.Fatal(err)
		}
	}
}

// large is a World in which every node has a report and an order.
func large(nodes, pods int) *World {
	obs := newObservation(nil, "", &meter{})
	obs.snapshot = clustertest.Synthetic(nodes, pods, 1)
	clustertest.Agents()(obs.snapshot)
	watched := &kept{}
	at := metav1.Now()
	for i := range obs.snapshot.Nodes {
		n := &obs.snapshot.Nodes[i]
		obs.nodes[n.Name] = n
		for _, kind := range []string{kindNode, kindUpgrade, kindReport} {
			obs.noteVersion(kind, n.Name, "1000")
		}
		u := upgrade(n.Name, "1001", refitv1alpha1.NodeSucceeded)
		for i := range 20 {
			u.Status.Steps = append(u.Status.Steps, refitv1alpha1.StepStatus{Name: fmt.Sprintf("step-%d", i), StartTime: &at, CompletionTime: &at})
		}
		watched.nodes = append(watched.nodes, node(n.Name, "1001", n.Kubelet))
		watched.upgrades = append(watched.upgrades, u)
		watched.reports = append(watched.reports, refitv1alpha1.NodeReport{ObjectMeta: u.ObjectMeta, Status: *n.Report})
	}
	return &World{watched: watched.watched(), last: obs, lastAt: time.Now(), opened: map[string]openedRelease{}}
}
