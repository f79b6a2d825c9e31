package request

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// DefaultPool returns the pool of the workers that no other pool selects, and adds it if there is
// none.
func DefaultPool(spec *refitv1alpha1.ClusterUpgradeSpec) *refitv1alpha1.Pool {
	at := slices.IndexFunc(spec.Pools, func(p refitv1alpha1.Pool) bool { return p.Name == policy.DefaultPool })
	if at < 0 {
		at = len(spec.Pools)
		spec.Pools = append(spec.Pools, refitv1alpha1.Pool{Name: policy.DefaultPool})
	}
	return &spec.Pools[at]
}
