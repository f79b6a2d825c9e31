package drain

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// handleResponse updates the view with the response to a request.
func (v *view) handleResponse(t task, r response, now time.Time) {
	v.inFlight--
	v.noteReachable(r, t.started, now)
	p := v.pods[t.key]
	if p != nil && p.UID == t.uid {
		p.inFlight = false
	} else {
		p = &pod{Pod: &corev1.Pod{}} // it is gone or replaced
	}
	switch r.kind {
	case accepted:
		v.accepted(t, p, now)
	case notFound:
		v.removePod(t.key, t.uid)
	case replaced:
		p.retry.extend(now, replacedPods)
		v.verifiedAt = time.Time{} // the watch missed it
	case refusedByBudget:
		v.refused++
		v.refusedByBudget(t, p, r, now)
	case overlapping:
		v.refused++
		v.overlaps(p, now)
	case namespaceTerminating:
		v.refused++
		p.namespaceTerminating = true
	case forbidden:
		v.refused++
		v.forbidden(t, p, r, now)
	case denied:
		v.refused++
		p.message, p.failingSince = r.message, time.Time{}
		p.retry.extend(now, denials)
	case serverError:
		p.fail(r, now)
	case throttled:
		v.connection.retry = backoff{until: now.Add(r.after)}
	case unreachable: // see noteReachable
	}
}

// noteReachable records whether the API responds.
func (v *view) noteReachable(r response, started, now time.Time) {
	if r.kind == unreachable {
		v.connection.failed(started, now)
		return
	}
	v.connection.responded(now)
}

func (v *view) accepted(t task, p *pod, now time.Time) {
	p.evictedAt, p.message = now, ""
	if t.action == evictPod {
		v.evicted++
	} else {
		v.deleted++
	}
	if b := v.budgets[t.budget]; b != nil {
		b.probe = backoff{}
		b.probe.extend(now, budgetProbes)
	}
}

func (v *view) refusedByBudget(t task, p *pod, r response, now time.Time) {
	k := key{Namespace: t.key.Namespace, Name: r.budget}
	b := v.budgets[k]
	if b == nil {
		b = &budget{key: k}
		b.probe.extend(now, budgetProbes)
		v.budgets[k] = b
	}
	b.message, p.message = r.message, ""
	if b.changed <= t.change { // else it has changed since the request
		b.allowed = 0
		p.refusedBy, p.refusedAt = k, b.changed
	}
}

func (p *pod) fail(r response, now time.Time) {
	if p.message == "" || p.failingSince.IsZero() {
		p.failingSince = now
	}
	p.message = r.message
	p.retry.extend(now, apiErrors)
	if after := now.Add(r.after); after.After(p.retry.until) {
		p.retry.until = after
	}
}

func (v *view) forbidden(t task, p *pod, r response, now time.Time) {
	permission := "create pods/eviction"
	if t.action == deletePod {
		permission = "delete pods"
	}
	if v.connection.unstable(now) {
		p.fail(r, now)
		return
	}
	p.message = ""
	v.missingPermission(t.key.String(), permission+" in namespace "+t.key.Namespace, r, now)
}

// missingPermission ends the drain: an administrator must grant the permission.
func (v *view) missingPermission(pod, permission string, r response, now time.Time) {
	if v.connection.unstable(now) || v.err != nil {
		return
	}
	v.missing = &refitv1alpha1.Blocker{Pod: pod, Reason: reason("the permission to %s is missing", permission)}
	v.err = fmt.Errorf("the permission to %s is missing: %w", permission, r.err)
}
