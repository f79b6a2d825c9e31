package plan

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func TestANodeThatJoinsUsesASlot(t *testing.T) {
	now := simulationStart
	for situation, tt := range map[string]struct {
		age  time.Duration
		pods int32
		want bool
	}{
		"its network has not started":              {5 * time.Minute, 0, false},
		"it was ready for a moment and runs pods":  {5 * time.Minute, 2, true},
		"its network has not started for too long": {time.Hour, 0, true},
	} {
		t.Run(situation, func(t *testing.T) {
			n := cluster.Node{Name: "worker-1", Ready: cluster.No, CreatedAt: now.Add(-tt.age), ReadySince: now.Add(time.Minute - tt.age)}
			if tt.pods > 0 {
				n.Pods = []cluster.PodSet{{Workload: 0, Count: tt.pods}}
			}
			s := &cluster.Snapshot{
				TakenAt: now, Nodes: []cluster.Node{n}, Operation: &cluster.Operation{UID: "op"},
				Workloads: []cluster.Workload{{Namespace: "shop", Name: "cart", Kind: "Deployment"}},
			}
			v := newView(&Plan{spec: policy.Defaulted(refitv1alpha1.ClusterUpgradeSpec{})}, s, now)
			if got := v.counts[0].unavailable == 1; got != tt.want {
				t.Errorf("it uses a slot: %t", got)
			}
		})
	}
}
