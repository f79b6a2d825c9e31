package agents

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// handleBudget handles a change of a budget, and counts its pods as the disruption controller does.
func (a *Agents) handleBudget(object any, gone bool) {
	if b, is := object.(*policyv1.PodDisruptionBudget); is && !gone {
		a.begin(func(ctx context.Context) { a.count(ctx, b) })
	}
}

// countBudgets recounts the budgets that cover a pod.
func (a *Agents) countBudgets(p *corev1.Pod) {
	a.begin(func(ctx context.Context) {
		var budgets policyv1.PodDisruptionBudgetList
		if err := a.cache.List(ctx, &budgets, client.InNamespace(p.Namespace)); err != nil {
			return
		}
		for i := range budgets.Items {
			if covers(&budgets.Items[i], p) {
				a.count(ctx, &budgets.Items[i])
			}
		}
	})
}

func covers(b *policyv1.PodDisruptionBudget, p *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(p.Labels))
}

// count counts the pods of a budget. It expects as many as existed first: nothing here changes the
// number of replicas. An update based on a stale view fails, and the event that made it stale
// triggers another count.
func (a *Agents) count(ctx context.Context, b *policyv1.PodDisruptionBudget) {
	var pods corev1.PodList
	if err := a.cache.List(ctx, &pods, client.InNamespace(b.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	b = b.DeepCopy()
	was := b.Status.DeepCopy()
	status := &b.Status
	status.CurrentHealthy, status.ObservedGeneration = 0, b.Generation
	going := map[string]metav1.Time{}
	for i := range pods.Items {
		p := &pods.Items[i]
		since, evicted := status.DisruptedPods[p.Name]
		switch {
		case !covers(b, p) || p.DeletionTimestamp != nil:
		case evicted && time.Since(since.Time) < evictedFor:
			going[p.Name] = since
		case isReady(p):
			status.CurrentHealthy++
		}
	}
	if len(going) > 0 {
		name := client.ObjectKeyFromObject(b)
		a.begin(func(ctx context.Context) { a.countLater(ctx, name) })
	}
	status.DisruptedPods = going
	status.ExpectedPods = max(status.ExpectedPods, status.CurrentHealthy)
	status.DesiredHealthy = desired(b)
	status.DisruptionsAllowed = max(0, status.CurrentHealthy-status.DesiredHealthy)
	if equality.Semantic.DeepEqual(was, status) {
		return
	}
	a.write(ctx, func(ctx context.Context) error {
		err := a.client.Status().Update(ctx, b)
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// evictedFor is how long an evicted pod counts as disrupted although it still exists. The pod stays
// if its evictor is killed at that moment. Kubernetes waits two minutes.
const evictedFor = 2 * time.Second

// countLater recounts a budget when its evicted pods should be gone.
func (a *Agents) countLater(ctx context.Context, name client.ObjectKey) {
	pause(ctx, evictedFor)
	b := &policyv1.PodDisruptionBudget{}
	if err := a.cache.Get(ctx, name, b); err == nil {
		a.count(ctx, b)
	}
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// desired returns how many pods must be healthy.
func desired(b *policyv1.PodDisruptionBudget) int32 {
	expected := int(b.Status.ExpectedPods)
	if b.Spec.MinAvailable != nil {
		least, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, expected, true)
		return int32(least)
	}
	most, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, expected, true)
	return int32(max(0, expected-most))
}
