package preflight

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

func (n *node) cordonedByHand() bool { return n.Unschedulable && n.CordonedBy == "" }

// nodeNotReady covers workers. An unready worker counts against maxUnavailable of its pool.
func nodeNotReady(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		waived := !n.IsReady() && v.waived("NodeNotReady", n.Name)
		if !policy.Pooled(n.Node) || n.IsReady() || (n.leftOut && !waived && !v.pools[n.pool].exhausted()) {
			continue
		}
		p := &v.pools[n.pool]
		f := Finding{
			Severity: Warn,
			Unknown:  n.Ready == cluster.Unknown,
			Object:   n.object(),
			Message:  notReady(v, n),
			Remedy: fmt.Sprintf("Fix the node, delete it (`kubectl delete node %s`), or upgrade without it: `--waive 'NodeNotReady/%s=REASON'`",
				n.Name, n.object()),
		}
		if !waived && p.exhausted() {
			f.Severity = Block
			f.Message += exhaustedBy(p)
		}
		found = append(found, f)
	}
	return found
}

func nodeCordonedByHand(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.cordonedByHand() || (n.leftOut && (!policy.Pooled(n.Node) || !v.pools[n.pool].exhausted())) {
			continue
		}
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message:  fmt.Sprintf("%s is cordoned, but not by Refit: Refit does not uncordon it", n.Name),
			Remedy: fmt.Sprintf("Uncordon it (`kubectl uncordon %s`), or waive NodeCordonedByHand for it so that it does not count as unavailable.",
				n.Name),
		}
		if n.pool >= 0 && n.IsReady() && !v.waived("NodeCordonedByHand", n.Name) {
			if p := &v.pools[n.pool]; p.exhausted() {
				f.Severity = Block
				f.Message += exhaustedBy(p)
			}
		}
		found = append(found, f)
	}
	return found
}

func exhaustedBy(p *pool) string {
	return fmt.Sprintf("; pool %s allows %s to be unavailable and already has %s, so no other node can start",
		p.Name, plural(p.maxUnavailable, "node"), thousands(p.unavailable))
}

func notReady(v *view, n *node) string {
	hasSince := !n.ReadySince.IsZero() && v.Now.After(n.ReadySince)
	switch {
	case n.Ready == cluster.Unknown && hasSince:
		return fmt.Sprintf("%s has been unreachable for %s", n.Name, ago(v.Now.Sub(n.ReadySince)))
	case n.Ready == cluster.Unknown:
		return n.Name + " is unreachable"
	case hasSince:
		return fmt.Sprintf("%s has not been ready for %s", n.Name, ago(v.Now.Sub(n.ReadySince)))
	}
	return n.Name + " is not ready"
}

// ago rounds a duration for display.
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
	return plural(int(d.Minutes()), "minute")
}

func nodeUnderPressure(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		if len(n.Pressure) == 0 || !n.fetches {
			continue
		}
		f := Finding{
			Severity: Warn,
			Object:   n.object(),
			Message:  fmt.Sprintf("%s has the condition %s", n.Name, joinNames(n.Pressure)),
			Remedy:   fmt.Sprintf("Find out what uses the resource: `kubectl describe node %s`", n.Name),
		}
		// The kubelet garbage-collects unused images, including those prefetched for the upgrade.
		if slices.Contains(n.Pressure, "DiskPressure") {
			f.Severity = Block
			f.Remedy = fmt.Sprintf("Free disk space on %s: `crictl rmi --prune; journalctl --vacuum-size=200M`, then check /var/lib.", n.Name)
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
				Message: fmt.Sprintf("%s runs %s: Refit upgrades only Linux hosts", n.Name, n.OS),
				Remedy:  "Upgrade it manually afterwards, before it is more than three minor versions older than the control plane.",
			})
		}
	}
	return found
}

func virtualNode(v *view) []Finding {
	var found []Finding
	for _, name := range v.s.VirtualNodes {
		found = append(found, Finding{
			Object:  policy.NodeObject(name),
			Message: name + " has no machine: a virtual kubelet represents another cluster or a cloud service",
			Remedy: "Add a nodeAffinity that keeps kube-proxy off it, which Refit keeps: `kubectl -n kube-system edit daemonset kube-proxy`. " +
				"A pod of kube-proxy never becomes ready there, and stops the rolling update on the other nodes. " +
				"The virtual kubelet is upgraded with the component that it belongs to.",
		})
	}
	return found
}

func selectorMatchesNothing(v *view) []Finding {
	if v.Spec.Scope == refitv1alpha1.ScopeControlPlane || len(v.s.Workers()) == 0 {
		return nil
	}
	return append(nodeSelectorMatchesNothing(v), emptyPools(v)...)
}

// emptyPools reports pools without a worker: the policy of another pool applies to the nodes.
func emptyPools(v *view) []Finding {
	var found []Finding
	for i := range v.pools {
		p := &v.pools[i]
		if len(p.NodeSelector) == 0 || p.size > 0 {
			continue
		}
		found = append(found, Finding{
			Object:  "pool " + p.Name,
			Message: fmt.Sprintf("pool %s has no worker with the labels %s, so its policy applies to none", p.Name, labels.Set(p.NodeSelector)),
			Remedy: "Check the labels of the workers: `kubectl get nodes --show-labels`. A worker belongs to the first pool that matches it. Label " +
				"the workers, or change pools in the manifest.",
		})
	}
	return found
}

func nodeSelectorMatchesNothing(v *view) []Finding {
	if len(v.Spec.NodeSelector) == 0 {
		return nil
	}
	for _, n := range v.s.Workers() {
		if policy.HasLabels(n, v.Spec.NodeSelector) {
			return nil
		}
	}
	selector := labels.Set(v.Spec.NodeSelector).String()
	return []Finding{{
		Message: fmt.Sprintf("no worker has the labels %s of the node selector, so no worker is upgraded", selector),
		Remedy:  "Check the labels of the workers: `kubectl get nodes --show-labels`. Label them, or change --node-selector.",
	}}
}
