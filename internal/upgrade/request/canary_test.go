package request_test

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

func TestCanaryOfAPool(t *testing.T) {
	gpu := func(s *cluster.Snapshot) { s.Node("worker-1").Labels = map[string]string{"pool": "gpu"} }
	canary := func(pool string, nodes int32) refitv1alpha1.ClusterUpgradeSpec {
		p := refitv1alpha1.Pool{Name: pool, Canary: &refitv1alpha1.Canary{Nodes: nodes}}
		if pool != "default" {
			p.NodeSelector = refitv1alpha1.Labels{"pool": "gpu"}
		}
		return refitv1alpha1.ClusterUpgradeSpec{Pools: []refitv1alpha1.Pool{p}}
	}
	for situation, tt := range map[string]struct {
		spec refitv1alpha1.ClusterUpgradeSpec
		want string
	}{
		"no pools":              {refitv1alpha1.ClusterUpgradeSpec{}, ""},
		"a part of the pool":    {canary("default", 2), ""},
		"the whole pool":        {canary("default", 3), ""},
		"more than the pool":    {canary("default", 4), "the canary of pool default is 4 nodes, but the pool has only 3 workers"},
		"more than another":     {canary("gpu", 2), "the canary of pool gpu is 2 nodes, but the pool has only 1 worker"},
		"the default of a pool": {canary("gpu", 0), ""},
	} {
		t.Run(situation, func(t *testing.T) {
			err := request.ValidateFor(tt.spec, clustertest.HA("v1.35.4", 3, 3, gpu))
			if got := errorText(err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("a pool without nodes", func(t *testing.T) {
		if err := request.ValidateFor(canary("gpu", 2), clustertest.HA("v1.35.4", 3, 3)); err != nil {
			t.Error(err)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
