package plan

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// BenchmarkNext decides in large clusters during the upgrade of their workers: some are done, many
// are active, and slots are free.
func BenchmarkNext(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{500, 15_000}, {5000, 150_000}, {15_000, 450_000}} {
		b.Run(fmt.Sprintf("nodes=%d,pods=%d", size.nodes, size.pods), func(b *testing.B) {
			s, p := large(b, size.nodes, size.pods)
			for b.Loop() {
				if d := Next(p, s, clustertest.Now, nil); len(d.Actions) == 0 {
					b.Fatalf("nothing to do: %s", d.Message)
				}
			}
		})
	}
}

// BenchmarkMake plans the upgrade of the same cluster.
func BenchmarkMake(b *testing.B) {
	s, _ := large(b, 5000, 150_000)
	for b.Loop() {
		if _, err := Make(s, s.Operation.Spec); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOutline makes the outline of the same plan.
func BenchmarkOutline(b *testing.B) {
	s, _ := large(b, 5000, 150_000)
	for b.Loop() {
		if _, err := Outline(s, s.Operation.Spec); err != nil {
			b.Fatal(err)
		}
	}
}

// large is a synthetic cluster whose control plane is upgraded, whose workers have prefetched, and
// of which 200 are active.
func large(b *testing.B, nodes, pods int) (*cluster.Snapshot, *Plan) {
	b.Helper()
	most := intstr.FromString("10%")
	spec := policy.Defaulted(refitv1alpha1.ClusterUpgradeSpec{
		Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, Approval: refitv1alpha1.ApprovalNone,
		Pools: []refitv1alpha1.Pool{
			{Name: "batch", NodeSelector: refitv1alpha1.Labels{"pool": "batch"}, MaxUnavailable: &most, Canary: &refitv1alpha1.Canary{Nodes: 3}},
			{Name: "storage", NodeSelector: refitv1alpha1.Labels{"pool": "storage"}},
			{Name: policy.DefaultPool, MaxUnavailable: &most},
		},
	})
	s := clustertest.Synthetic(nodes, pods, 1)
	for _, change := range []clustertest.Change{clustertest.Agents(), clustertest.Released("v1.36.3"), clustertest.WithOperation("upgrade", spec)} {
		change(s)
	}
	p, err := Make(s, spec)
	if err != nil {
		b.Fatal(err)
	}
	s.Operation.Plan = p.Summary()
	done, atWork := nodes/10, min(200, nodes/10)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Upgrade = &cluster.Upgrade{
			Spec: refitv1alpha1.NodeUpgradeSpec{
				Operation: refitv1alpha1.Operation{UID: types.UID(s.Operation.UID)}, NodeUID: types.UID(n.UID), Sequence: 1,
				Release: *p.Hops[0].Release, Permit: refitv1alpha1.PermitPrefetch,
			},
			Status: refitv1alpha1.NodeUpgradeStatus{ObservedSequence: 1, Phase: refitv1alpha1.NodePrefetched},
		}
		switch {
		case n.ControlPlane || i < done:
			n.Kubelet, n.Upgrade.Spec.Permit, n.Upgrade.Status.Phase = "v1.36.3", refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded
			if n.ControlPlane {
				s.APIServer(n.Name).Version = "v1.36.3"
			}
		case i < done+atWork:
			s.Operation.Active = append(s.Operation.Active, n.Name)
		}
	}
	return s, p
}
