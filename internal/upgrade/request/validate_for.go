package request

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// ValidateFor rejects a valid spec that does not fit the nodes of a cluster. A pool that has none
// may get some later.
func ValidateFor(spec refitv1alpha1.ClusterUpgradeSpec, s *cluster.Snapshot) error {
	spec = policy.Defaulted(spec)
	sizes := make([]int, len(spec.Pools))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; policy.Pooled(n) {
			sizes[policy.PoolOf(&spec, n)]++
		}
	}
	for i, size := range sizes {
		pool := &spec.Pools[i]
		if pool.Canary != nil && size > 0 && int(pool.Canary.Nodes) > size {
			return fmt.Errorf("the canary of pool %s is %s, but the pool has only %s",
				pool.Name, phrase.Count(int(pool.Canary.Nodes), "node"), phrase.Count(size, "worker"))
		}
	}
	return nil
}
