package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// view is the state of a drain: the pods of the node, and the budgets that refuse. It sends no
// requests and has no clock.
type view struct {
	order      Order
	synced     bool // the watch has listed the pods
	pods       map[key]*pod
	budgets    map[key]*budget
	changes    int             // of budgets, so far
	listing    map[string]bool // namespaces whose budgets are being listed
	inFlight   int             // requests
	connection connection

	evicted, refused, deleted int64

	reading    bool      // a live read is in progress
	verifiedAt time.Time // the start of the last live read that matched the watch
	readRetry  backoff   // until the next one
	stale      bool      // a live read differed from the watch
	drained    bool      // no pod is left, by the watch and by a live read

	missing *refitv1alpha1.Blocker // the missing permission
	err     error                  // ends the drain
}

func newView(order Order, now time.Time) *view {
	return &view{order: order, pods: map[key]*pod{}, budgets: map[key]*budget{}, listing: map[string]bool{}, verifiedAt: now}
}

// replace sets the pods of the node.
func (v *view) replace(all []*corev1.Pod) {
	v.synced = true
	present := map[key]bool{}
	for _, p := range all {
		present[keyOf(p)] = true
		v.updatePod(p)
	}
	for k := range v.pods {
		if !present[k] {
			delete(v.pods, k)
		}
	}
}

func (v *view) updatePod(now *corev1.Pod) {
	old := v.pods[keyOf(now)]
	switch {
	case !mustLeave(now):
		delete(v.pods, keyOf(now))
	case old == nil || old.UID != now.UID: // another pod of the same name
		v.pods[keyOf(now)] = &pod{Pod: now}
	default:
		if isReady(old.Pod) != isReady(now) {
			old.refusedBy = key{} // budgets count it differently now
		}
		old.Pod = now
	}
}

func (v *view) removePod(k key, uid types.UID) {
	if p := v.pods[k]; p != nil && p.UID == uid {
		delete(v.pods, k)
	}
}

// updateBudget sets a budget, or removes it if object is nil.
func (v *view) updateBudget(k key, object *policyv1.PodDisruptionBudget) {
	b := v.budgets[k]
	switch {
	case b == nil:
	case object == nil:
		delete(v.budgets, k)
	case b.object == nil || b.object.ResourceVersion != object.ResourceVersion:
		v.changes++
		b.update(object, v.changes)
	}
}

// covering returns the budgets that apply to a pod, and those that possibly do: they have just
// refused, and their selectors are unknown.
func (v *view) covering(p *pod) (known, possible []*budget) {
	for _, b := range v.budgets {
		switch {
		case b.covers(p):
			known = append(known, b)
		case b.unsynced() && b.key.Namespace == p.Namespace:
			possible = append(possible, b)
		}
	}
	slices.SortFunc(known, func(a, b *budget) int { return compareKeys(a.key, b.key) })
	return known, possible
}
