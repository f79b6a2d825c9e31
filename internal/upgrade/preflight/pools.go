package preflight

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// fillPools counts the nodes of each pool, and those that use up what may be unavailable: all of them, as the plan does, also those that it leaves out.
func (v *view) fillPools() {
	for i := range v.nodes {
		n := &v.nodes[i]
		if !policy.Pooled(n.Node) {
			continue
		}
		p := &v.pools[n.pool]
		p.size++
		if n.touched {
			p.touched++
		}
		away := !n.IsReady() && !v.setAside(policy.CheckNodeNotReady, n.Name)
		if away || (n.IsReady() && n.cordonedByHand() && !v.setAside(policy.CheckNodeCordoned, n.Name)) {
			p.unavailable++
		}
	}
	for i := range v.pools {
		v.pools[i].maxUnavailable = policy.MaxUnavailable(&v.pools[i].Pool, v.pools[i].size)
	}
}

// usedUp says whether nodes that nobody upgrades use up what a pool allows to be unavailable, and something of it is to be upgraded.
func (p *pool) usedUp() bool { return p.touched > 0 && p.unavailable >= p.maxUnavailable }

// holds says whether a drain that cannot finish holds the upgrade up, by the node's policy.
func (n *node) holds() bool {
	return n.drain.OnBlocked == refitv1alpha1.OnBlockedWait || n.drain.OnBlocked == refitv1alpha1.OnBlockedFail
}
