package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prune deletes obsolete objects.
func (a *applyRun) prune(ctx context.Context, obsolete []Ref) error {
	for _, ref := range obsolete {
		action, err := a.deleteIf(ctx, ref, isManaged, a.dryRun)
		if err != nil {
			return err
		}
		if action == "" {
			continue
		}
		a.record(Change{Ref: ref, Action: action})
		// The remover of an interrupted removal must end before agents are installed again.
		if ref.same(removerRef) && action == Removed && !a.dryRun {
			if err := a.waitForPodsDeleted(ctx, AgentNamespace, removeName, a.callbacks); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxConflicts is how often a write is retried after a conflict.
const maxConflicts = 10

// deleteIf deletes an object and its dependents if its labels permit it. The preconditions keep it
// from deleting an object that lost a label meanwhile. The action is empty if there is none.
func (c *Cluster) deleteIf(ctx context.Context, ref Ref, permit func(*unstructured.Unstructured) bool, dryRun bool) (Action, error) {
	for n := 0; ; n++ {
		found, err := c.get(ctx, ref)
		switch {
		case err != nil:
			return "", err
		case found == nil:
			return "", nil
		case !permit(found):
			return Left, nil
		}
		uid, version, background := found.GetUID(), found.GetResourceVersion(), metav1.DeletePropagationBackground
		options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}, PropagationPolicy: &background}
		if dryRun {
			options.DryRun = []string{metav1.DryRunAll}
		}
		err = c.at(ref).Delete(ctx, ref.Name, options)
		switch {
		case err == nil || apierrors.IsNotFound(err):
			return Removed, nil
		case apierrors.IsConflict(err) && n < maxConflicts: // its status or its labels changed
			continue
		}
		return "", fmt.Errorf("cannot delete %s: %w", ref, err)
	}
}
