package plan

import (
	"reflect"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func TestAnOutlineDecidesAsThePlanDoes(t *testing.T) {
	to := func(version string) refitv1alpha1.ClusterUpgradeSpec {
		return refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: version}, Approval: refitv1alpha1.ApprovalNone}
	}
	scoped, selected := to("v1.36.3"), to("v1.36.3")
	scoped.Scope, selected.NodeSelector = refitv1alpha1.ScopeControlPlane, refitv1alpha1.Labels{"pool": "batch"}
	for name, c := range map[string]struct {
		s    *cluster.Snapshot
		spec refitv1alpha1.ClusterUpgradeSpec
	}{
		"one hop":                {clustertest.HA("v1.35.4", 3, 5), to("v1.36.3")},
		"two hops":               {clustertest.HA("v1.35.4", 3, 5), to("v1.37.1")},
		"a single node":          {clustertest.Single("v1.35.4"), to("v1.36.3")},
		"the control plane only": {clustertest.HA("v1.35.4", 3, 5), scoped},
		"many nodes":             {clustertest.Synthetic(500, 5000, 1), to("v1.36.3")},
		"some of many nodes":     {clustertest.Synthetic(500, 5000, 1), selected},
	} {
		t.Run(name, func(t *testing.T) {
			released := clustertest.Released("v1.36.3", "v1.37.1")
			for _, change := range []clustertest.Change{clustertest.Agents(), released, clustertest.WithOperation("upgrade", c.spec)} {
				change(c.s)
			}
			whole, err := Make(c.s, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			outline, err := Outline(c.s, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if outline.Hash != whole.Hash {
				t.Error("it has another hash")
			}
			if d := Next(outline, c.s, clustertest.Now, nil); len(d.Actions) == 0 || !reflect.DeepEqual(d, Next(whole, c.s, clustertest.Now, nil)) {
				t.Errorf("it decides differently: %+v", d)
			}
		})
	}
}
