package drain

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// answered takes in what came of a request.
func (v *view) answered(t task, a answer, now time.Time) {
	v.flying--
	v.heard(a, t.begun, now)
	p := v.pods[t.key]
	if p != nil && p.UID == t.uid {
		p.flying = false
	} else {
		p = &pod{Pod: &corev1.Pod{}} // it went meanwhile
	}
	switch a.kind {
	case agreed:
		v.agreed(t, p, now)
	case gone:
		v.lost(t.key, t.uid)
	case replaced:
		p.again.grow(now, podChanges)
		v.lookedAt = time.Time{} // the watch should have told
	case budgeted:
		v.refused++
		v.held(t, p, a, now)
	case crossed:
		v.refused++
		v.crossed(p, now)
	case ending:
		v.refused++
		p.ending = true
	case forbidden:
		v.refused++
		v.forbidden(t, p, a, now)
	case refused:
		v.refused++
		p.said, p.fails = a.said, time.Time{}
		p.again.grow(now, apiRefuses)
	case failing:
		p.fail(a, now)
	case busy:
		v.link.pause = pause{until: now.Add(a.after)}
	case silent: // nobody is asked for a while, see heard
	}
}

// heard notes whether the API answers at all.
func (v *view) heard(a answer, begun, now time.Time) {
	if a.kind == silent {
		v.link.failed(begun, now)
		return
	}
	v.link.answered(now)
}

func (v *view) agreed(t task, p *pod, now time.Time) {
	p.asked, p.said = now, ""
	if t.act == evict {
		v.evicted++
	} else {
		v.deleted++
	}
	if b := v.budgets[t.under]; b != nil {
		b.probe = pause{}
		b.probe.grow(now, budgetHolds)
	}
}

// held notes that a budget refused.
func (v *view) held(t task, p *pod, a answer, now time.Time) {
	k := key{Namespace: t.key.Namespace, Name: a.budget}
	b := v.budgets[k]
	if b == nil {
		b = &budget{key: k}
		b.probe.grow(now, budgetHolds)
		v.budgets[k] = b
	}
	b.said, p.said = a.said, ""
	if b.changed <= t.change { // else it has changed since the question, and the answer is an old one
		b.leave = 0
		p.refuser, p.refusedAt = k, b.changed
	}
}

func (p *pod) fail(a answer, now time.Time) {
	if p.said == "" || p.fails.IsZero() {
		p.fails = now
	}
	p.said = a.said
	p.again.grow(now, apiFails)
	if asked := now.Add(a.after); asked.After(p.again.until) {
		p.again.until = asked
	}
}

func (v *view) forbidden(t task, p *pod, a answer, now time.Time) {
	right := "create pods/eviction"
	if t.act == remove {
		right = "delete pods"
	}
	if v.link.shaky(now) {
		p.fail(a, now)
		return
	}
	p.said = ""
	v.lack(t.key.String(), right+" in namespace "+t.key.Namespace, a, now)
}

// lack notes that we may not do what we must. A person has to act, so the drain ends.
func (v *view) lack(pod, right string, a answer, now time.Time) {
	if v.link.shaky(now) || v.err != nil {
		return
	}
	v.missing = &refitv1alpha1.Blocker{Pod: pod, Reason: reason("the right to %s is missing", right)}
	v.err = fmt.Errorf("the right to %s is missing: %w", right, a.err)
}
