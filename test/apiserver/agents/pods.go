package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// handlePod handles a change of a pod: its kubelet runs a new pod and terminates a deleted one; its
// owner recreates it elsewhere.
func (a *Agents) handlePod(object any, gone bool) {
	p, is := object.(*corev1.Pod)
	if !is {
		return
	}
	a.countBudgets(p)
	switch {
	case gone && movable(p):
		a.begin(func(ctx context.Context) { a.replace(ctx, p) })
	case gone:
	case p.DeletionTimestamp != nil:
		a.begin(func(ctx context.Context) { a.end(ctx, p) })
	case p.Status.Phase == corev1.PodPending:
		a.begin(func(ctx context.Context) { a.run(ctx, p) })
	}
}

// run starts a new pod as a kubelet does. A pod with restart policy Never completes immediately.
func (a *Agents) run(ctx context.Context, p *corev1.Pod) {
	p = p.DeepCopy()
	p.Status.Phase = corev1.PodRunning
	if p.Spec.RestartPolicy == corev1.RestartPolicyNever {
		p.Status.Phase = corev1.PodSucceeded
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	a.write(ctx, func(ctx context.Context) error {
		err := a.client.Status().Update(ctx, p)
		if apierrors.IsConflict(err) {
			return nil // stale; the event that made it stale is handled, too
		}
		return client.IgnoreNotFound(err)
	})
}

// end terminates a deleted pod as a kubelet does.
func (a *Agents) end(ctx context.Context, p *corev1.Pod) {
	pause(ctx, about(a.options.End))
	a.write(ctx, func(ctx context.Context) error {
		err := a.client.Delete(ctx, p, client.GracePeriodSeconds(0), client.Preconditions{UID: &p.UID})
		if apierrors.IsConflict(err) {
			return nil
		}
		return client.IgnoreNotFound(err)
	})
}

// movable reports whether the pod's owner recreates it on any node.
func movable(p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && (owner.Kind == "ReplicaSet" || owner.Kind == "StatefulSet")
}

// replace recreates a pod, as its owner and the scheduler would, as soon as a node is schedulable.
func (a *Agents) replace(ctx context.Context, old *corev1.Pod) {
	for ctx.Err() == nil {
		target, number := a.place(ctx)
		if target == "" {
			pause(ctx, 100*time.Millisecond)
			continue
		}
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: old.Namespace, Name: nameOf(old, number), Labels: old.Labels, Annotations: old.Annotations, OwnerReferences: old.OwnerReferences,
			},
			Spec: *old.Spec.DeepCopy(),
		}
		p.Spec.NodeName = target
		a.write(ctx, func(ctx context.Context) error {
			err := a.client.Create(ctx, p)
			if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
				return nil // its namespace does not exist
			}
			return err
		})
		return
	}
}

// nameOf returns the name of a pod's replacement. A StatefulSet keeps the name.
func nameOf(old *corev1.Pod, number int) string {
	if metav1.GetControllerOf(old).Kind == "StatefulSet" {
		return old.Name
	}
	return fmt.Sprintf("%s-%06x", old.Name[:strings.LastIndex(old.Name, "-")], number)
}

// place returns a schedulable node, another one each time, and numbers the move.
func (a *Agents) place(ctx context.Context) (name string, number int) {
	a.mu.Lock()
	a.moves++
	number, names := a.moves, a.names
	a.mu.Unlock()
	for i := range names {
		n := &corev1.Node{}
		if err := a.cache.Get(ctx, types.NamespacedName{Name: names[(i+number)%len(names)]}, n, client.UnsafeDisableDeepCopy); err != nil {
			continue // it was removed
		}
		if _, controlPlane := n.Labels[labelControlPlane]; !n.Spec.Unschedulable && !controlPlane {
			return n.Name, number
		}
	}
	return "", number
}
