package drain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// budget is a PodDisruptionBudget that has refused an eviction, for as long as pods wait for it.
type budget struct {
	key          key
	object       *policyv1.PodDisruptionBudget // nil until the watch has it
	selector     labels.Selector
	changed      int     // its last change, in the view's count of changes
	allowed      int32   // how many pods it still allows to evict
	message      string  // of the refusal, until the watch has the object
	probe        backoff // until one of its pods is tried although nothing has changed
	overlapProbe backoff // the same for pods that another budget selects, too
}

func (b *budget) update(object *policyv1.PodDisruptionBudget, change int) {
	b.object, b.changed, b.allowed = object, change, disruptionsAllowed(object)
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.Selector) // nil selects nothing
	if err != nil {
		selector = labels.Nothing() // as in the eviction API
	}
	b.selector = selector
}

// disruptionsAllowed is 0 while the status is older than the spec.
func disruptionsAllowed(o *policyv1.PodDisruptionBudget) int32 {
	if o.Status.ObservedGeneration < o.Generation {
		return 0
	}
	return max(o.Status.DisruptionsAllowed, 0)
}

// unsynced reports whether the budget has just refused, and the watch does not have its selector
// yet.
func (b *budget) unsynced() bool { return b.object == nil && b.probe.tries < 2 }

// covers reports whether the budget applies to a pod: the eviction API ignores budgets for a pod
// that has not started. A refusal of this very pod counts until the budget changes, whatever its
// selector.
func (b *budget) covers(p *pod) bool {
	if b.key.Namespace != p.Namespace {
		return false
	}
	return b.hasRefused(p) || (b.object != nil && p.Status.Phase != corev1.PodPending && b.selector.Matches(labels.Set(p.Labels)))
}

// hasRefused reports whether the budget has refused this pod since its last change.
func (b *budget) hasRefused(p *pod) bool { return p.refusedBy == b.key && p.refusedAt == b.changed }

// allows reports whether a pod of the budget may be evicted. Without a change, the API would only
// refuse again.
func (b *budget) allows(p *pod) bool {
	return b.object != nil && (b.allowed > 0 || (!isReady(p.Pod) && allowsUnready(b.object) && !b.hasRefused(p)))
}

// allowsUnready reports whether pods that are not ready may be evicted whatever the budget allows,
// as in the eviction API.
func allowsUnready(o *policyv1.PodDisruptionBudget) bool {
	if policy := o.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return o.Status.CurrentHealthy >= o.Status.DesiredHealthy && o.Status.DesiredHealthy > 0
}

// explain returns why the budget allows no eviction.
func (b *budget) explain() string {
	if b.object == nil {
		return b.message
	}
	status := &b.object.Status
	condition := meta.FindStatusCondition(status.Conditions, policyv1.DisruptionAllowedCondition)
	switch {
	case status.ObservedGeneration < b.object.Generation:
		return "is new or changed, and its status is not up to date"
	case condition != nil && condition.Reason == policyv1.SyncFailedReason:
		return "allows no disruption, because its pods cannot be counted: " + oneLine(condition.Message)
	case status.CurrentHealthy <= status.DesiredHealthy:
		return fmt.Sprintf("needs %d healthy pods and has %d", status.DesiredHealthy, status.CurrentHealthy)
	}
	return "allows no disruption now"
}
