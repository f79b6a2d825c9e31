package drain

import (
	"slices"
	"time"

	policyv1 "k8s.io/api/policy/v1"
)

// crossed notes that two budgets cover a pod. Which, is asked for once.
func (v *view) crossed(p *pod, now time.Time) {
	p.said = ""
	if covering, _ := v.covering(p); len(covering) > 1 {
		return // as was known
	}
	p.crossed, p.looked = true, false
	if p.cross.over(now) {
		p.cross.grow(now, budgetsCross)
	}
}

// listed takes in the budgets of a namespace, to find out which of them cover a pod together.
func (v *view) listed(t task, all []policyv1.PodDisruptionBudget, a answer, now time.Time) {
	v.flying--
	delete(v.listing, t.key.Namespace)
	v.heard(a, t.begun, now)
	if a.kind == forbidden {
		v.lack(everything, "list poddisruptionbudgets.policy in namespace "+t.key.Namespace, a, now)
	}
	for _, p := range v.pods {
		if p.Namespace != t.key.Namespace || !p.crossed {
			continue
		}
		p.looked = true
		if matching := cover(all, p); len(matching) > 1 {
			v.watchToo(matching, now)
			p.crossed = false // the budgets tell from now on
		}
	}
}

func (v *view) watchToo(budgets []policyv1.PodDisruptionBudget, now time.Time) {
	for i := range budgets {
		k := key{Namespace: budgets[i].Namespace, Name: budgets[i].Name}
		b := v.budgets[k]
		if b == nil {
			b = &budget{key: k}
			b.probe.grow(now, budgetHolds)
			v.budgets[k] = b
		}
		if b.cross.over(now) {
			b.cross.grow(now, budgetsCross)
		}
		v.sawBudget(k, &budgets[i])
	}
}

// cover are those budgets that cover a pod.
func cover(all []policyv1.PodDisruptionBudget, p *pod) []policyv1.PodDisruptionBudget {
	return slices.DeleteFunc(slices.Clone(all), func(o policyv1.PodDisruptionBudget) bool {
		b := &budget{key: key{Namespace: o.Namespace, Name: o.Name}}
		b.tell(&o, 0)
		return !b.covers(p)
	})
}
