package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxWatchAge is how long a watch is trusted while pods are left.
const maxWatchAge = 10 * time.Minute

// needsLiveRead reports whether to compare the watch with a live read: when no pod is left, when a
// pod has exceeded its grace period, and after maxWatchAge. A frozen watch shows a node without
// pods, or pods that never end.
func (v *view) needsLiveRead(now time.Time) bool {
	if !v.synced || v.reading || !v.readRetry.expired(now) {
		return false
	}
	if len(v.pods) == 0 || !now.Before(v.verifiedAt.Add(maxWatchAge)) {
		return true
	}
	for _, p := range v.pods {
		if p.terminating() && !now.Before(p.deadline()) && v.verifiedAt.Before(p.deadline()) {
			return true
		}
	}
	return false
}

// handleLiveRead compares the pods of a live read with the watch.
func (v *view) handleLiveRead(all []*corev1.Pod, r response, started, now time.Time) {
	v.reading = false
	v.noteReachable(r, started, now)
	if r.kind == forbidden {
		v.missingPermission(allPods, "list pods in all namespaces", r, now)
	}
	if r.kind != accepted {
		v.readRetry.extend(now, apiUnreachable)
		return
	}
	v.verifiedAt = started
	if !v.matches(all) {
		v.replace(all)
		v.stale = true
		v.readRetry.extend(now, staleWatch)
		return
	}
	v.readRetry = backoff{}
	v.drained = len(v.pods) == 0
	// An eviction was accepted, but nothing deletes the pod: evict it again.
	for _, p := range v.pods {
		if p.DeletionTimestamp == nil && !p.evictedAt.IsZero() && now.After(p.deadline()) {
			p.evictedAt = time.Time{}
		}
	}
}

// matches reports whether a live read has the same pods as the watch.
func (v *view) matches(all []*corev1.Pod) bool {
	left := 0
	for _, now := range all {
		if !mustLeave(now) {
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
