package drain

import (
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
)

// overlaps records that two budgets select a pod. The budgets are listed once to find their names.
func (v *view) overlaps(p *pod, now time.Time) {
	p.message = ""
	if covering, _ := v.covering(p); len(covering) > 1 {
		return // they are known
	}
	p.overlapping, p.listed = true, false
	if p.overlapRetry.expired(now) {
		p.overlapRetry.extend(now, overlapProbes)
	}
}

// listed finds the budgets of a namespace that select a pod together.
func (v *view) listed(t task, all []policyv1.PodDisruptionBudget, r response, now time.Time) {
	v.inFlight--
	delete(v.listing, t.key.Namespace)
	v.noteReachable(r, t.started, now)
	if r.kind == forbidden {
		v.missingPermission(allPods, "list poddisruptionbudgets.policy in namespace "+t.key.Namespace, r, now)
	}
	for _, p := range v.pods {
		if p.Namespace != t.key.Namespace || !p.overlapping {
			continue
		}
		p.listed = true
		if matching := selecting(all, p); len(matching) > 1 {
			v.watchOverlap(matching, now)
			p.overlapping = false // from now on the budgets are watched
		}
	}
}

func (v *view) watchOverlap(budgets []policyv1.PodDisruptionBudget, now time.Time) {
	for i := range budgets {
		k := key{Namespace: budgets[i].Namespace, Name: budgets[i].Name}
		b := v.budgets[k]
		if b == nil {
			b = &budget{key: k}
			b.probe.extend(now, budgetProbes)
			v.budgets[k] = b
		}
		if b.overlapProbe.expired(now) {
			b.overlapProbe.extend(now, overlapProbes)
		}
		v.updateBudget(k, &budgets[i])
	}
}

// selecting returns the budgets that select a pod.
func selecting(all []policyv1.PodDisruptionBudget, p *pod) []policyv1.PodDisruptionBudget {
	return slices.DeleteFunc(slices.Clone(all), func(o policyv1.PodDisruptionBudget) bool {
		b := &budget{key: key{Namespace: o.Namespace, Name: o.Name}}
		b.update(&o, 0)
		return !b.covers(p)
	})
}
