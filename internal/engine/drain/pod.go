package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stuckAfter is how long a pod may exceed its grace period: the kubelet and the API need a moment
// to report that it is gone.
const stuckAfter = time.Minute

type key = types.NamespacedName

func keyOf(p *corev1.Pod) key { return key{Namespace: p.Namespace, Name: p.Name} }

// pod is a pod that must leave the node.
type pod struct {
	*corev1.Pod // trimmed

	turn      int       // how many pods of its owner precede it
	inFlight  bool      // a request is in progress
	evictedAt time.Time // when the API accepted the eviction; zero: not yet

	refusedBy key // the budget that refused this very pod
	refusedAt int // and its change at that time

	overlapping  bool    // the API reports that two budgets select it, without their names
	listed       bool    // the budgets of its namespace were listed
	overlapRetry backoff // until the next eviction

	namespaceTerminating bool
	message              string    // of the last denial or error
	failingSince         time.Time // zero: it is a denial
	retry                backoff
}

func (p *pod) key() key { return keyOf(p.Pod) }

// terminating reports whether the pod is being deleted, by this drain or by something else.
func (p *pod) terminating() bool { return p.DeletionTimestamp != nil || !p.evictedAt.IsZero() }

// deadline is when a terminating pod should be gone.
func (p *pod) deadline() time.Time {
	if p.DeletionTimestamp != nil { // the end of the grace period, not its start
		return p.DeletionTimestamp.Add(stuckAfter)
	}
	return p.evictedAt.Add(gracePeriod(p.Pod) + stuckAfter)
}
