package preflight

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const defaultPool = "default"

// poolsOf returns the pools with the default pool as the last one. What a spec from a file leaves out is filled in.
func poolsOf(spec refitv1alpha1.ClusterUpgradeSpec) []pool {
	var pools []pool
	rest := pool{Pool: refitv1alpha1.Pool{Name: defaultPool}}
	for _, p := range spec.Pools {
		if p.Name == defaultPool {
			rest.Pool = p
			continue
		}
		pools = append(pools, pool{Pool: p})
	}
	pools = append(pools, rest)
	for i := range pools {
		drain := &pools[i].Drain
		if drain.OnBlocked == "" {
			drain.OnBlocked = refitv1alpha1.OnBlockedWait
		}
		if drain.When == "" {
			drain.When = refitv1alpha1.DrainMinorReleases
		}
		if drain.Timeout.Duration == 0 {
			drain.Timeout = metav1.Duration{Duration: 15 * time.Minute}
		}
	}
	return pools
}

// fillPools counts the nodes of each pool, and those that use up what may be unavailable.
func (v *view) fillPools() {
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.pool < 0 || n.leftOut {
			continue
		}
		p := &v.pools[n.pool]
		p.size++
		if !n.IsReady() || (n.cordonedByHand() && !v.setAside("NodeCordonedByHand", n.Name)) {
			p.unavailable++
		}
	}
	for i := range v.pools {
		p := &v.pools[i]
		p.maxUnavailable = 1
		if p.MaxUnavailable == nil {
			continue
		}
		if most, err := intstr.GetScaledValueFromIntOrPercent(p.MaxUnavailable, p.size, false); err == nil {
			p.maxUnavailable = max(1, most)
		}
	}
}

// holds says whether a drain that cannot finish holds the upgrade up, by the node's policy.
func (n *node) holds() bool {
	return n.drain.OnBlocked == refitv1alpha1.OnBlockedWait || n.drain.OnBlocked == refitv1alpha1.OnBlockedFail
}
