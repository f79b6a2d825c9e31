package clusterupgrade

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// maxConcurrentActions is how many nodes are written to at once.
const maxConcurrentActions = 16

// executors is how one kind of action is carried out. Each does nothing if what it was decided on is no longer so, and nothing if it is done already.
var executors = map[plan.ActionKind]func(*Reconciler, context.Context, *observation, *plan.Action) error{
	plan.RequestReport: (*Reconciler).requestReport,
	plan.Prefetch:      (*Reconciler).order,
	plan.Apply:         (*Reconciler).order,
	plan.Rollback:      (*Reconciler).order,
	plan.Hold:          (*Reconciler).order,
	plan.Cordon:        (*Reconciler).cordon,
	plan.Uncordon:      (*Reconciler).cordon,
	plan.Drain:         (*Reconciler).startDrain,
	plan.StartTrial:    (*Reconciler).startTrial,
	plan.Skip:          (*Reconciler).finishDrain,
	plan.FailDrain:     (*Reconciler).finishDrain,
}

// execute does what was decided. The operation's own status is written first, with claims and what they are for: a claim that conflicts was decided on an old
// view, and so was all the rest.
func (r *Reconciler) execute(ctx context.Context, obs *observation) error {
	if err := r.writeStatus(ctx, obs); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(maxConcurrentActions)
	for i := range obs.Decision.Actions {
		action := &obs.Decision.Actions[i]
		do := executors[action.Kind]
		if do == nil {
			continue // Claim, Free and Finish are in the status
		}
		group.Go(func() error {
			err := do(r, ctx, obs, action)
			if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) { // somebody was quicker; the next look shows what is so now
				ctrllog.FromContext(ctx).V(1).Info("an act was too late", "act", action.Kind, "node", action.Node)
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", action.Kind, action.Node, err)
			}
			return nil
		})
	}
	return group.Wait()
}
