package drain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// view is what is known of a node that is being emptied, and of the budgets that refuse. It asks nobody and has no clock.
type view struct {
	order   Order
	synced  bool // the watch has told what is there
	pods    map[key]*pod
	budgets map[key]*budget
	changes int             // of budgets, so far
	listing map[string]bool // namespaces whose budgets are being listed
	flying  int             // requests
	link    link

	evicted, refused, deleted int64

	looking  bool      // a live read is under way
	lookedAt time.Time // when the last one began that agreed with the watch
	look     pause     // until the next one
	behind   bool      // a live read saw another node than the watch
	empty    bool      // and none is left, by the watch and by a live read

	missing *refitv1alpha1.Blocker // the right that we lack
	err     error                  // what ends the drain
}

func newView(order Order, now time.Time) *view {
	return &view{order: order, pods: map[key]*pod{}, budgets: map[key]*budget{}, listing: map[string]bool{}, lookedAt: now}
}

// replace takes in all pods that are on the node.
func (v *view) replace(all []*corev1.Pod) {
	v.synced = true
	there := map[key]bool{}
	for _, p := range all {
		there[keyOf(p)] = true
		v.saw(p)
	}
	for k := range v.pods {
		if !there[k] {
			delete(v.pods, k)
		}
	}
}

// saw takes in how one pod is now.
func (v *view) saw(now *corev1.Pod) {
	old := v.pods[keyOf(now)]
	switch {
	case !goes(now):
		delete(v.pods, keyOf(now))
	case old == nil || old.UID != now.UID: // what is known of a pod is not true of another one of its name
		v.pods[keyOf(now)] = &pod{Pod: now}
	default:
		if isReady(old.Pod) != isReady(now) {
			old.refuser = key{} // a budget may see it differently now
		}
		old.Pod = now
	}
}

func (v *view) lost(k key, uid types.UID) {
	if p := v.pods[k]; p != nil && p.UID == uid {
		delete(v.pods, k)
	}
}

// sawBudget takes in how a budget is now, or nil if it is gone. One that is gone holds nobody.
func (v *view) sawBudget(k key, object *policyv1.PodDisruptionBudget) {
	b := v.budgets[k]
	switch {
	case b == nil:
	case object == nil:
		delete(v.budgets, k)
	case b.object == nil || b.object.ResourceVersion != object.ResourceVersion:
		v.changes++
		b.tell(object, v.changes)
	}
}

// covering are the known budgets that have a say about a pod, and those that may have: they have just refused, and which pods are theirs is not known yet.
func (v *view) covering(p *pod) (known, perhaps []*budget) {
	for _, b := range v.budgets {
		switch {
		case b.covers(p):
			known = append(known, b)
		case b.fresh() && b.key.Namespace == p.Namespace:
			perhaps = append(perhaps, b)
		}
	}
	slices.SortFunc(known, func(a, b *budget) int { return compareKeys(a.key, b.key) })
	return known, perhaps
}
