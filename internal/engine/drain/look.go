package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// believed is for how long a watch is, while pods are left.
const believed = 10 * time.Minute

// looksNow says whether the watch is to be compared with a live read: when it shows that none is left, when a pod outlives its time, and every ten
// minutes. A watch that is frozen shows an empty node, or pods that never end.
func (v *view) looksNow(now time.Time) bool {
	if !v.synced || v.looking || !v.look.over(now) {
		return false
	}
	if len(v.pods) == 0 || !now.Before(v.lookedAt.Add(believed)) {
		return true
	}
	for _, p := range v.pods {
		if p.leaving() && !now.Before(p.due()) && v.lookedAt.Before(p.due()) {
			return true
		}
	}
	return false
}

// saysLive takes in what a live read saw.
func (v *view) saysLive(all []*corev1.Pod, a answer, begun, now time.Time) {
	v.looking = false
	v.heard(a, begun, now)
	if a.kind == forbidden {
		v.lack(everything, "list pods in all namespaces", a, now)
	}
	if a.kind != agreed {
		v.look.grow(now, apiAway)
		return
	}
	v.lookedAt = begun
	if !v.agrees(all) {
		v.replace(all)
		v.behind = true
		v.look.grow(now, viewDisagrees)
		return
	}
	v.look = pause{}
	v.empty = len(v.pods) == 0
	for _, p := range v.pods { // it agreed that the pod goes, and nobody ends it: ask again
		if p.DeletionTimestamp == nil && !p.asked.IsZero() && now.After(p.due()) {
			p.asked = time.Time{}
		}
	}
}

// agrees says whether a live read shows the same pods that the watch does.
func (v *view) agrees(all []*corev1.Pod) bool {
	left := 0
	for _, now := range all {
		if !goes(now) {
			continue
		}
		left++
		p := v.pods[keyOf(now)]
		if p == nil || p.UID != now.UID || (p.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil) {
			return false
		}
	}
	return left == len(v.pods)
}
