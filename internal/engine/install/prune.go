package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prune removes objects that are no longer wanted.
func (a *applying) prune(ctx context.Context, unwanted []Ref) error {
	for _, ref := range unwanted {
		action, err := a.removeOurs(ctx, ref, a.dryRun)
		if err != nil {
			return err
		}
		if action == "" {
			continue
		}
		a.tell(Change{Ref: ref, Action: action})
		if ref.same(removingRef) && action == Removed && !a.dryRun { // of a removal that was cut off: an agent that is placed now must not be taken away after
			if err := a.podsGone(ctx, AgentNamespace, removeName); err != nil {
				return err
			}
		}
	}
	return nil
}

// conflicts is how often an object may have changed between a look at it and its removal.
const conflicts = 10

// removeOurs deletes the very object that was looked at, if it has our mark, and what belongs to it. It says nothing of one that is not there.
func (c *Cluster) removeOurs(ctx context.Context, ref Ref, dryRun bool) (Action, error) {
	for n := 0; ; n++ {
		found, err := c.get(ctx, ref)
		switch {
		case err != nil:
			return "", err
		case found == nil:
			return "", nil
		case !ours(found):
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
		case apierrors.IsConflict(err) && n < conflicts: // its status moves, or somebody took our mark away
			continue
		}
		return "", fmt.Errorf("removing %s: %w", ref, err)
	}
}
