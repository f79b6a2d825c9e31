package drain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stuckAfter is how long a pod may outlive its time to end: the kubelet and the API need a moment to tell that it is gone.
const stuckAfter = time.Minute

type key = types.NamespacedName

func keyOf(p *corev1.Pod) key { return key{Namespace: p.Namespace, Name: p.Name} }

// pod is one that has to go.
type pod struct {
	*corev1.Pod // slim

	turn   int       // how many pods of its owner go before it
	flying bool      // a request is under way
	asked  time.Time // when the API agreed that it goes; zero: not yet

	refuser   key // the budget that refused this very pod
	refusedAt int // and as of which change of it

	crossed bool  // the API says that two budgets cover it, and we do not know which
	looked  bool  // for which
	cross   pause // until it is asked again

	ending bool      // its namespace is being deleted
	said   string    // by the API when it last refused or failed
	fails  time.Time // since when the API fails; zero: it refuses
	again  pause
}

func (p *pod) key() key { return keyOf(p.Pod) }

// leaving says whether the pod was asked to go, by us or by somebody else.
func (p *pod) leaving() bool { return p.DeletionTimestamp != nil || !p.asked.IsZero() }

// due is when a pod that leaves should be gone for sure.
func (p *pod) due() time.Time {
	if p.DeletionTimestamp != nil { // when its time to end is over, and not when it was asked to
		return p.DeletionTimestamp.Add(stuckAfter)
	}
	return p.asked.Add(grace(p.Pod) + stuckAfter)
}
