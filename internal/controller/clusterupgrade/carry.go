package clusterupgrade

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// sideBySide is how many nodes are written to at once.
const sideBySide = 16

// act is how one kind of action is carried out. Each does nothing if what it was decided on is no longer so, and nothing if it is done already.
var acts = map[plan.ActionKind]func(*Controller, context.Context, *sight, *plan.Action) error{
	plan.Ask:      (*Controller).ask,
	plan.Prefetch: (*Controller).order,
	plan.Apply:    (*Controller).order,
	plan.PutBack:  (*Controller).order,
	plan.Hold:     (*Controller).order,
	plan.Cordon:   (*Controller).cordon,
	plan.Uncordon: (*Controller).cordon,
	plan.Drain:    (*Controller).drain,
	plan.Try:      (*Controller).try,
	plan.Skip:     (*Controller).mark,
	plan.GiveUp:   (*Controller).mark,
}

// carryOut does what was decided. The operation's own status is written first, with claims and what they are for: a claim that conflicts was decided on an old
// view, and so was all the rest.
func (c *Controller) carryOut(ctx context.Context, seen *sight) error {
	if err := c.tell(ctx, seen); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for i := range seen.decision.Do {
		action := &seen.decision.Do[i]
		do := acts[action.Kind]
		if do == nil {
			continue // Claim, Free and Finish are in the status
		}
		group.Go(func() error {
			err := do(c, ctx, seen, action)
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
