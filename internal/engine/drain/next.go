package drain

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxInFlight is the number of concurrent requests.
const maxInFlight = 10

type action int

const (
	noAction action = iota
	evictPod
	deletePod   // with its own grace period
	listBudgets // of its namespace
)

// task is a request to send.
type task struct {
	action  action
	key     key
	uid     types.UID
	budget  key  // the one that should allow it
	probe   bool // although the budget has not changed
	change  int  // the last change of a budget at the start
	started time.Time
}

// next returns the requests to send now, and marks them as in flight.
func (v *view) next(now time.Time) []task {
	limit := maxInFlight
	if !v.connection.downSince.IsZero() {
		limit = 1 // one request probes whether the API is back
	}
	if !v.synced || v.err != nil || !v.connection.retry.expired(now) || v.inFlight >= limit {
		return nil
	}
	var tasks []task
	for _, p := range evictionOrder(v.pods) {
		if v.inFlight >= limit {
			break
		}
		t := v.decide(p, now)
		if t.action == noAction {
			continue
		}
		t.key, t.uid, t.change, t.started = p.key(), p.UID, v.changes, now
		v.start(p, t, now)
		tasks = append(tasks, t)
	}
	return tasks
}

// decide returns the request for one pod.
func (v *view) decide(p *pod, now time.Time) task {
	if p.inFlight || p.terminating() || v.protected(p) || p.namespaceTerminating || !p.retry.expired(now) {
		return task{}
	}
	held := task{action: noAction} // back by budgets
	if v.order.Delete {
		held.action = deletePod
	}
	covering, possible := v.covering(p)
	switch {
	case len(covering) > 1:
		if first := covering[0]; !v.order.Delete && first.overlapProbe.expired(now) {
			return task{action: evictPod, budget: first.key, probe: true}
		}
		return held
	case p.overlapping && v.order.Delete:
		return held
	case p.overlapping && !p.listed:
		if v.listing[p.Namespace] {
			return task{}
		}
		return task{action: listBudgets}
	case p.overlapping:
		if p.overlapRetry.expired(now) {
			return task{action: evictPod}
		}
		return held
	case len(covering) == 1:
		b := covering[0]
		if b.allows(p) {
			return task{action: evictPod, budget: b.key}
		}
		if !v.order.Delete && b.probe.expired(now) {
			return task{action: evictPod, budget: b.key, probe: true}
		}
		return held
	case len(possible) > 0:
		return task{}
	}
	return task{action: evictPod}
}

// start marks a task as in flight.
func (v *view) start(p *pod, t task, now time.Time) {
	v.inFlight++
	if t.action == listBudgets {
		v.listing[p.Namespace] = true
		return
	}
	p.inFlight = true
	if p.overlapping {
		p.overlapRetry.extend(now, overlapProbes)
	}
	b := v.budgets[t.budget]
	switch {
	case b == nil:
	case t.probe: // one pod for all that wait
		b.probe.extend(now, budgetProbes)
		b.overlapProbe.extend(now, overlapProbes)
	case b.allowed > 0:
		b.allowed--
	}
}

// protected reports whether a pod must not be deleted.
func (v *view) protected(p *pod) bool { return v.irreplaceable(p) || v.keepsData(p) }

// irreplaceable reports whether nothing would recreate a pod, and it is not waived.
func (v *view) irreplaceable(p *pod) bool {
	return unmanaged(p.Pod) && (v.order.Waived == nil || !v.order.Waived(p.Namespace, p.Name))
}

// keepsData reports whether a pod may keep data in an emptyDir, and its owner is not waived. A
// preflight check reports such pods before the upgrade; these started later.
func (v *view) keepsData(p *pod) bool {
	owner, may := dataOwner(p.Pod)
	return may && (v.order.DataWaived == nil || !v.order.DataWaived(owner))
}

// budgetsToWatch returns the budgets for which pods wait. It forgets the others.
func (v *view) budgetsToWatch() map[*budget]bool {
	needed := map[*budget]bool{}
	for _, p := range v.pods {
		if p.terminating() || v.protected(p) {
			continue
		}
		covering, possible := v.covering(p)
		for _, b := range append(covering, possible...) {
			needed[b] = true
		}
	}
	for k, b := range v.budgets {
		if !needed[b] {
			delete(v.budgets, k)
		}
	}
	return needed
}

// nextWake returns when to run again without an event.
func (v *view) nextWake(now time.Time) time.Time {
	at := now.Add(time.Minute)
	atMost := func(t time.Time) {
		if t.After(now) && t.Before(at) {
			at = t
		}
	}
	atMost(v.connection.retry.until)
	atMost(v.readRetry.until)
	atMost(v.verifiedAt.Add(maxWatchAge))
	if !v.connection.downSince.IsZero() {
		atMost(v.connection.downSince.Add(reportAfter))
	}
	for _, b := range v.budgets {
		atMost(b.probe.until)
		atMost(b.overlapProbe.until)
	}
	for _, p := range v.pods {
		atMost(p.retry.until)
		atMost(p.overlapRetry.until)
		if p.terminating() {
			atMost(p.deadline())
		}
		if !p.failingSince.IsZero() {
			atMost(p.failingSince.Add(reportAfter))
		}
	}
	return at
}
