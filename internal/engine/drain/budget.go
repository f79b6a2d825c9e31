package drain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget is one that has refused, for as long as pods wait for it.
type budget struct {
	key      key
	object   *policyv1.PodDisruptionBudget // nil until its watch has told
	selector labels.Selector
	changed  int    // when it last did, by the view's count of changes
	leave    int32  // how many pods it lets go, as far as is known
	said     string // when it refused, until its watch has told
	probe    pause  // until one of its pods is asked although nothing has changed
	cross    pause  // the same for pods that another budget covers, too
}

// tell takes in how the budget is now.
func (b *budget) tell(object *policyv1.PodDisruptionBudget, change int) {
	b.object, b.changed, b.leave = object, change, allows(object)
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.Selector) // none at all selects nothing
	if err != nil {
		selector = labels.Nothing() // as the API has it
	}
	b.selector = selector
}

// allows is how many pods may go at once. A status that does not speak of the spec yet means nothing.
func allows(o *policyv1.PodDisruptionBudget) int32 {
	if o.Status.ObservedGeneration < o.Generation {
		return 0
	}
	return max(o.Status.DisruptionsAllowed, 0)
}

// fresh says whether the budget has just refused, and its watch is about to tell which pods are its.
func (b *budget) fresh() bool { return b.object == nil && b.probe.tries < 2 }

// covers says whether the budget has a say about a pod: the eviction API asks none about one that has not started. What the API said of this very pod
// counts until the budget changes, whatever its selector says.
func (b *budget) covers(p *pod) bool {
	if b.key.Namespace != p.Namespace {
		return false
	}
	return b.refused(p) || (b.object != nil && p.Status.Phase != corev1.PodPending && b.selector.Matches(labels.Set(p.Labels)))
}

// refused says whether the budget, as it is now, has refused this pod.
func (b *budget) refused(p *pod) bool { return p.refuser == b.key && p.refusedAt == b.changed }

// lets says whether a pod of the budget may be asked to go. While nothing has changed, the API would only refuse again.
func (b *budget) lets(p *pod) bool {
	return b.object != nil && (b.leave > 0 || (!isReady(p.Pod) && freesUnready(b.object) && !b.refused(p)))
}

// freesUnready says whether pods that are not ready may go whatever the budget allows, as the eviction API has it.
func freesUnready(o *policyv1.PodDisruptionBudget) bool {
	if policy := o.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return o.Status.CurrentHealthy >= o.Status.DesiredHealthy && o.Status.DesiredHealthy > 0
}

// says is why the budget lets nobody go.
func (b *budget) says() string {
	if b.object == nil {
		return b.said
	}
	status := &b.object.Status
	condition := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	switch {
	case status.ObservedGeneration < b.object.Generation:
		return "is new or changed, and its pods are not counted yet"
	case condition != nil && condition.Reason == policyv1.SyncFailedReason:
		return "allows none, since its pods cannot be counted: " + oneLine(condition.Message)
	case status.CurrentHealthy <= status.DesiredHealthy:
		return fmt.Sprintf("needs %d healthy pods and has %d", status.DesiredHealthy, status.CurrentHealthy)
	}
	return "allows none at this moment"
}
