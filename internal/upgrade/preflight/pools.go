package preflight

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// fillPools counts the nodes of each pool and those that are unavailable, including nodes that the
// upgrade leaves out, as the plan does.
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
		joining := n.IsJoining(v.s.TakenAt) && !v.sim.Node(n.Name).RunsPods()
		unavailable := !n.IsReady() && !joining && !v.waived(policy.CheckNodeNotReady, n.Name) && !policy.Abandoned(&v.Spec, n.Name)
		if unavailable || (n.IsReady() && n.cordonedByHand() && !v.waived(policy.CheckNodeCordoned, n.Name)) {
			p.unavailable++
		}
	}
	for i := range v.pools {
		v.pools[i].maxUnavailable = policy.MaxUnavailable(&v.pools[i].Pool, v.pools[i].size)
	}
}

// exhausted reports whether unavailable nodes use up maxUnavailable of a pool that has nodes to
// upgrade.
func (p *pool) exhausted() bool { return p.touched > 0 && p.unavailable >= p.maxUnavailable }

// blocksOnDrain reports whether a drain that cannot finish blocks the upgrade, by the policy of the
// node.
func (n *node) blocksOnDrain() bool {
	return n.drain.OnBlocked == refitv1alpha1.OnBlockedWait || n.drain.OnBlocked == refitv1alpha1.OnBlockedFail
}
