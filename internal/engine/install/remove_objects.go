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

// removeObjects deletes all remaining objects and waits until they are gone.
func (r *removeRun) removeObjects(ctx context.Context) error {
	for _, ref := range r.refs {
		if ref.Resource == "customresourcedefinitions" {
			if err := r.removeFinalizers(ctx, ref); err != nil {
				return err
			}
		}
		if err := r.delete(ctx, ref); err != nil {
			return err
		}
		if ref.Resource == "namespaces" {
			if err := r.deleteUnreachablePods(ctx, ref.Name); err != nil {
				return err
			}
		}
		if ref.Resource == "namespaces" || ref.Resource == "customresourcedefinitions" {
			if err := r.waitForDeletion(ctx, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFinalizers removes Refit's finalizers from the objects of a CRD: the controller that would
// do so is gone.
func (r *removeRun) removeFinalizers(ctx context.Context, crd Ref) error {
	resource, group, _ := strings.Cut(crd.Name, ".")
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
			return fmt.Errorf("cannot list %s: %w", resource, err)
		}
		for i := range page.Items {
			object := &page.Items[i]
			others := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return strings.HasPrefix(f, group+"/") })
			if len(others) == len(object.GetFinalizers()) {
				continue
			}
			object.SetFinalizers(others)
			if _, err := objects.Update(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("cannot remove the finalizer of Refit from %s %s: %w", resource, object.GetName(), err)
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// waitForDeletion waits until an object is gone. It does not wait for one that does not belong to
// Refit.
func (r *removeRun) waitForDeletion(ctx context.Context, ref Ref) error {
	what := ref.String() + " to be deleted (a finalizer that is not Refit's may block it or its content)"
	return until(ctx, what, pollInterval, r.callbacks, func() (bool, error) {
		found, err := r.get(ctx, ref)
		return err == nil && (found == nil || !isRemovable(found)), err
	})
}

// deleteUnreachablePods force-deletes Refit's pods on nodes that are not ready: no kubelet
// terminates them, and they would block the deletion of their namespace. They are idle and have no
// data.
func (r *removeRun) deleteUnreachablePods(ctx context.Context, namespace string) error {
	if namespace != AgentNamespace && namespace != SystemNamespace && namespace != ComponentsNamespace {
		return nil
	}
	unreachable := map[string]bool{}
	err := r.eachNode(ctx, func(node *corev1.Node) error {
		if _, ready := readiness(node); !ready {
			unreachable[node.Name] = true
		}
		return nil
	})
	if err != nil || len(unreachable) == 0 {
		return err
	}
	pods, err := r.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("cannot list the pods of namespace %s: %w", namespace, err)
	}
	now := int64(0)
	for i := range pods.Items {
		p := &pods.Items[i]
		if !unreachable[p.Spec.NodeName] || !slices.Contains([]string{agentName, removeName, controllerName, componentsName}, p.Labels[labelName]) {
			continue
		}
		options := metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))}
		err := r.client.CoreV1().Pods(namespace).Delete(ctx, p.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("cannot delete pod %s on node %s: %w", p.Name, p.Spec.NodeName, err)
		}
	}
	return nil
}
