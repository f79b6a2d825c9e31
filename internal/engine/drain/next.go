package drain

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// inFlight is how many requests are under way at once.
const inFlight = 10

type act int

const (
	nothing act = iota
	evict       // ask the eviction API
	remove      // delete, with the pod's own time to end
	list        // the budgets of its namespace
)

// task is a request to make.
type task struct {
	act
	key    key
	uid    types.UID
	under  key  // the budget that was thought to let it go
	probe  bool // although the budget has not changed
	change int  // the last change of a budget that was known
	begun  time.Time
}

// next says whom to ask now, and notes that they are being asked.
func (v *view) next(now time.Time) []task {
	room := inFlight
	if !v.link.silent.IsZero() {
		room = 1 // one finds out whether the API is back
	}
	if !v.synced || v.err != nil || !v.link.pause.over(now) || v.flying >= room {
		return nil
	}
	var tasks []task
	for _, p := range inOrder(v.pods) {
		if v.flying >= room {
			break
		}
		t := v.decide(p, now)
		if t.act == nothing {
			continue
		}
		t.key, t.uid, t.change, t.begun = p.key(), p.UID, v.changes, now
		v.take(p, t, now)
		tasks = append(tasks, t)
	}
	return tasks
}

// decide says what to do with one pod.
func (v *view) decide(p *pod, now time.Time) task {
	if p.flying || p.leaving() || v.stays(p) || p.ending || !p.again.over(now) {
		return task{}
	}
	held := task{act: nothing} // by budgets
	if v.order.Delete {
		held.act = remove
	}
	covering, perhaps := v.covering(p)
	switch {
	case len(covering) > 1:
		if first := covering[0]; !v.order.Delete && first.cross.over(now) {
			return task{act: evict, under: first.key, probe: true}
		}
		return held
	case p.crossed && v.order.Delete:
		return held
	case p.crossed && !p.looked:
		if v.listing[p.Namespace] {
			return task{}
		}
		return task{act: list}
	case p.crossed:
		if p.cross.over(now) {
			return task{act: evict}
		}
		return held
	case len(covering) == 1:
		b := covering[0]
		if b.lets(p) {
			return task{act: evict, under: b.key}
		}
		if !v.order.Delete && b.probe.over(now) {
			return task{act: evict, under: b.key, probe: true}
		}
		return held
	case len(perhaps) > 0:
		return task{}
	}
	return task{act: evict}
}

// take notes that a task is under way.
func (v *view) take(p *pod, t task, now time.Time) {
	v.flying++
	if t.act == list {
		v.listing[p.Namespace] = true
		return
	}
	p.flying = true
	if p.crossed {
		p.cross.grow(now, budgetsCross)
	}
	b := v.budgets[t.under]
	switch {
	case b == nil:
	case t.probe: // one pod asks for all that wait
		b.probe.grow(now, budgetHolds)
		b.cross.grow(now, budgetsCross)
	case b.leave > 0:
		b.leave--
	}
}

// stays says whether a pod may not be ended: nobody would make it anew, and nobody has waived it.
func (v *view) stays(p *pod) bool {
	return nobodys(p.Pod) && (v.order.Lose == nil || !v.order.Lose(p.Namespace, p.Name))
}

// watched are the budgets to watch: those that have refused and for which pods still wait. The others are forgotten.
func (v *view) watched() map[*budget]bool {
	needed := map[*budget]bool{}
	for _, p := range v.pods {
		if p.leaving() || v.stays(p) {
			continue
		}
		covering, perhaps := v.covering(p)
		for _, b := range append(covering, perhaps...) {
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

// wake is when to think again if nothing happens until then.
func (v *view) wake(now time.Time) time.Time {
	at := now.Add(time.Minute)
	by := func(t time.Time) {
		if t.After(now) && t.Before(at) {
			at = t
		}
	}
	by(v.link.pause.until)
	by(v.look.until)
	by(v.lookedAt.Add(believed))
	if !v.link.silent.IsZero() {
		by(v.link.silent.Add(silence))
	}
	for _, b := range v.budgets {
		by(b.probe.until)
		by(b.cross.until)
	}
	for _, p := range v.pods {
		by(p.again.until)
		by(p.cross.until)
		if p.leaving() {
			by(p.due())
		}
		if !p.fails.IsZero() {
			by(p.fails.Add(silence))
		}
	}
	return at
}
