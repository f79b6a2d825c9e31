package clusterupgrade

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// tidy cleans up after an operation that has ended, from the cache alone: the operation is never
// assessed again, and its status stays as it is. It returns when to reconcile again.
func (r *Reconciler) tidy(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (time.Duration, error) {
	obs, err := r.observeEnded(ctx, operation)
	if err != nil {
		return 0, err
	}
	if err := r.execute(ctx, obs); err != nil {
		return 0, err
	}
	if len(obs.Decision.Actions) > 0 {
		return time.Second, nil // the cache has the change by then
	}
	return 0, r.removeFinalizer(ctx, operation)
}

// observeEnded observes the nodes that the operation has cordoned or protected, and decides about
// them.
func (r *Reconciler) observeEnded(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (*observation, error) {
	var all corev1.NodeList
	if err := r.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("cannot list Nodes in the cache: %w", err)
	}
	ended := cluster.Operation{Name: operation.Name, UID: string(operation.UID), Spec: operation.Spec, Plan: operation.Status.Plan, Ended: true}
	var marked []cluster.Node
	for i := range all.Items {
		n := &all.Items[i]
		if !marks(n, operation.UID) {
			continue
		}
		node := cluster.Node{
			Name: n.Name, UID: string(n.UID), Unschedulable: n.Spec.Unschedulable, CordonedBy: string(cordonedBy(n)), ProtectedBy: string(protectedBy(n)),
		}
		order := &refitv1alpha1.NodeUpgrade{}
		switch err := r.Cache.Get(ctx, client.ObjectKeyFromObject(n), order); {
		case err == nil:
			node.Upgrade = &cluster.Upgrade{Spec: order.Spec, Status: order.Status}
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("cannot get NodeUpgrade %s from the cache: %w", n.Name, err)
		}
		marked = append(marked, node)
	}
	obs := &observation{operation: operation, nodes: map[string]*cluster.Node{}, now: r.Now().UTC()}
	for i := range marked {
		obs.nodes[marked[i].Name] = &marked[i]
	}
	obs.Assessment = &assess.Assessment{Decision: plan.Tidy(&ended, marked)}
	return obs, nil
}

func cordonedBy(n *corev1.Node) types.UID {
	return types.UID(n.Annotations[refitv1alpha1.AnnotationCordonedBy])
}

func protectedBy(n *corev1.Node) types.UID {
	return types.UID(n.Annotations[refitv1alpha1.AnnotationProtectedBy])
}

// marks reports whether a Node is cordoned or protected by an operation.
func marks(n *corev1.Node, operation types.UID) bool {
	return cordonedBy(n) == operation || protectedBy(n) == operation
}

// mentions reports whether an object belongs to an operation that may have ended: a Node with its
// mark, or an order of it.
func mentions(object client.Object, operation types.UID) bool {
	switch o := object.(type) {
	case *corev1.Node:
		return marks(o, operation)
	case *refitv1alpha1.NodeUpgrade:
		return o.Spec.Operation.UID == operation
	}
	return false
}
