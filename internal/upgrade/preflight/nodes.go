package preflight

import (
	"fmt"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func (n *node) cordonedByHand() bool { return n.Unschedulable && n.CordonedBy == "" }

// nodeNotReady is about workers. One that is not ready uses up what its pool allows to be unavailable.
func nodeNotReady(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		aside := !n.IsReady() && v.setAside("NodeNotReady", n.Name)
		if !policy.Pooled(n.Node) || n.IsReady() || (n.leftOut && !aside && !v.pools[n.pool].usedUp()) {
			continue
		}
		p := &v.pools[n.pool]
		f := Finding{
			Severity: Warn,
			Unknown:  n.Ready == cluster.Unknown,
			Object:   n.object(),
			Message:  notReady(v, n),
			Remedy: fmt.Sprintf("Bring the node back, remove it (kubectl delete node %s), or waive NodeNotReady for it: then the upgrade "+
				"leaves it out.",
				n.Name),
		}
		if !aside && p.usedUp() {
			f.Severity = Block
			f.Message += usedUp(p)
		}
		found = append(found, f)
	}
	return found
}

func nodeCordonedByHand(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.cordonedByHand() || (n.leftOut && (!policy.Pooled(n.Node) || !v.pools[n.pool].usedUp())) {
			continue
		}
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message:  fmt.Sprintf("%s is cordoned, and not by Refit: it stays so", n.Name),
			Remedy: fmt.Sprintf("Uncordon it (kubectl uncordon %s), or waive NodeCordonedByHand for it: then it does not count as unavailable.",
				n.Name),
		}
		if n.pool >= 0 && n.IsReady() && !v.setAside("NodeCordonedByHand", n.Name) {
			if p := &v.pools[n.pool]; p.usedUp() {
				f.Severity = Block
				f.Message += usedUp(p)
			}
		}
		found = append(found, f)
	}
	return found
}

func usedUp(p *pool) string {
	return fmt.Sprintf("; pool %s may have %s unavailable and has %s already, so no other could start",
		p.Name, many(p.maxUnavailable, "node"), thousands(p.unavailable))
}

func notReady(v *view, n *node) string {
	long := !n.ReadySince.IsZero() && v.Now.After(n.ReadySince)
	switch {
	case n.Ready == cluster.Unknown && long:
		return fmt.Sprintf("%s has not been heard of for %s", n.Name, ago(v.Now.Sub(n.ReadySince)))
	case n.Ready == cluster.Unknown:
		return n.Name + " has not been heard of"
	case long:
		return fmt.Sprintf("%s has not been ready for %s", n.Name, ago(v.Now.Sub(n.ReadySince)))
	}
	return n.Name + " is not ready"
}

// ago rounds a time to what a person would say.
func ago(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	if d < time.Minute {
		return "less than a minute"
	}
	return many(int(d.Minutes()), "minute")
}

func nodeUnderPressure(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if len(n.Pressure) == 0 || !n.touched {
			continue
		}
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message:  fmt.Sprintf("%s is under %s", n.Name, some(n.Pressure)),
			Remedy:   fmt.Sprintf("Find out what uses it up: kubectl describe node %s", n.Name),
		}
		// The kubelet throws unused images away, also those that were fetched for the upgrade.
		if slices.Contains(n.Pressure, "DiskPressure") {
			f.Severity = Block
			f.Remedy = fmt.Sprintf("Make room on %s: crictl rmi --prune, journalctl --vacuum-size=200M, then look at /var/lib.", n.Name)
		}
		found = append(found, f)
	}
	return found
}

func windowsNode(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		if n := &v.nodes[i]; n.OS != "" && n.OS != "linux" {
			found = append(found, Finding{
				Object:  n.object(),
				Message: fmt.Sprintf("%s runs %s: Refit upgrades Linux hosts only and leaves it as it is", n.Name, n.OS),
				Remedy:  "Upgrade it by hand afterwards, before it is more than three minor versions older than the control plane.",
			})
		}
	}
	return found
}
