package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// removeObjects removes all the rest, and waits until it is gone.
func (r *removing) removeObjects(ctx context.Context) error {
	for _, ref := range r.refs {
		if ref.Resource == "customresourcedefinitions" {
			if err := r.letGo(ctx, ref); err != nil {
				return err
			}
		}
		if err := r.end(ctx, ref); err != nil {
			return err
		}
		if ref.Resource == "namespaces" {
			if err := r.abandon(ctx, ref.Name); err != nil {
				return err
			}
		}
		if ref.Resource == "namespaces" || ref.Resource == "customresourcedefinitions" {
			if err := r.gone(ctx, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// letGo takes our finalizers off the objects of a definition: whoever would have done so is gone.
func (r *removing) letGo(ctx context.Context, definition Ref) error {
	resource, group, _ := strings.Cut(definition.Name, ".")
	if group != refitv1alpha1.GroupVersion.Group {
		return nil
	}
	objects := r.objects.Resource(refitv1alpha1.GroupVersion.WithResource(resource))
	options := metav1.ListOptions{Limit: operationsPerPage}
	for {
		page, err := objects.List(ctx, options)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", resource, err)
		}
		for i := range page.Items {
			object := &page.Items[i]
			others := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return strings.HasPrefix(f, group+"/") })
			if len(others) == len(object.GetFinalizers()) {
				continue
			}
			object.SetFinalizers(others)
			if _, err := objects.Update(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("taking Refit's finalizer off %s %s: %w", resource, object.GetName(), err)
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// gone waits until an object that was removed is no longer there. One that is not ours stays.
func (r *removing) gone(ctx context.Context, ref Ref) error {
	return until(ctx, ref.String()+" to be gone (a finalizer of somebody else may keep it or what is in it)", settleEvery, func() (bool, error) {
		found, err := r.get(ctx, ref)
		return err == nil && (found == nil || !ours(found)), err
	})
}

// abandon forgets our pods on nodes that are not ready: no kubelet ends them, and they would keep their namespace. They have no work left and no data.
func (r *removing) abandon(ctx context.Context, namespace string) error {
	if namespace != AgentNamespace && namespace != SystemNamespace {
		return nil
	}
	away := map[string]bool{}
	err := r.eachNode(ctx, func(node *corev1.Node) error {
		if _, ready := readiness(node); !ready {
			away[node.Name] = true
		}
		return nil
	})
	if err != nil || len(away) == 0 {
		return err
	}
	pods, err := r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("reading the pods of %s: %w", namespace, err)
	}
	at := int64(0)
	for i := range pods.Items {
		p := &pods.Items[i]
		if !away[p.Spec.NodeName] || !slices.Contains([]string{agentName, removeName, controllerName}, p.Labels[labelName]) {
			continue
		}
		options := metav1.DeleteOptions{GracePeriodSeconds: &at, Preconditions: metav1.NewUIDPreconditions(string(p.UID))}
		err := r.client.CoreV1().Pods(namespace).Delete(ctx, p.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("forgetting the pod %s on %s: %w", p.Name, p.Spec.NodeName, err)
		}
	}
	return nil
}
