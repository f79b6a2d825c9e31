package clusterupgrade

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// maxConcurrentActions is how many actions are executed at once.
const maxConcurrentActions = 16

// executor executes one kind of action. It does nothing, and returns false, if what the action was
// decided on is no longer so, or if the action is done already.
type executor func(*Reconciler, context.Context, *observation, *plan.Action) (executed bool, err error)

// executors has no Claim, ReleaseNode and Finish: the write of the status executes them.
var executors = map[plan.ActionKind]executor{
	plan.RequestReport: (*Reconciler).requestReport,
	plan.Prefetch:      (*Reconciler).order,
	plan.Apply:         (*Reconciler).order,
	plan.Rollback:      (*Reconciler).order,
	plan.Hold:          (*Reconciler).order,
	plan.Cordon:        (*Reconciler).cordon,
	plan.Uncordon:      (*Reconciler).uncordon,
	plan.Protect:       (*Reconciler).protect,
	plan.Unprotect:     (*Reconciler).unprotect,
	plan.Drain:         (*Reconciler).startDrain,
	plan.StartTrial:    (*Reconciler).startTrial,
	plan.Skip:          (*Reconciler).finishDrain,
	plan.FailDrain:     (*Reconciler).finishDrain,
	plan.CreateBackup:  (*Reconciler).createBackup,
	plan.DeleteBackup:  (*Reconciler).deleteBackup,

	plan.ApplyComponent: (*Reconciler).orderComponent,
	plan.HoldComponent:  (*Reconciler).orderComponent,
}

// execute executes what was decided. Actions on different nodes are independent of each other.
func (r *Reconciler) execute(ctx context.Context, obs *observation) error {
	var group errgroup.Group
	group.SetLimit(maxConcurrentActions)
	for i := range obs.Decision.Actions {
		a := &obs.Decision.Actions[i]
		if do := executors[a.Kind]; do != nil {
			group.Go(func() error { return r.executeAction(ctx, obs, a, do) })
		}
	}
	return group.Wait()
}

func (r *Reconciler) executeAction(ctx context.Context, obs *observation, a *plan.Action, do executor) error {
	executed, err := do(r, ctx, obs, a)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err): // the next observation includes the write that came first
		ctrllog.FromContext(ctx).V(1).Info("Action is outdated", logValues(obs, a)...)
		return nil
	case err != nil:
		r.failures.note(obs.operation.UID, a, err, r.Now())
		return fmt.Errorf("cannot execute %s: %w", nameOf(a), err)
	case executed:
		r.recordAction(ctx, obs, a)
	}
	r.failures.note(obs.operation.UID, a, nil, r.Now())
	return nil
}

// nameOf is an action with its node or component.
func nameOf(a *plan.Action) string {
	if a.Component != nil {
		return string(a.Kind) + " on component " + a.Component.Name
	}
	return strings.TrimSuffix(string(a.Kind)+" on node "+a.Node, " on node ")
}

// recordAction logs an action that was executed, and records its Event.
func (r *Reconciler) recordAction(ctx context.Context, obs *observation, a *plan.Action) {
	ctrllog.FromContext(ctx).Info("Executed action", logValues(obs, a)...)
	if reason := actionEvents[a.Kind]; reason != "" {
		r.recordEvent(obs, pendingEvent{node: a.Node, reason: reason, note: about(a.Component, a.Reason)})
	}
}

// about begins a note with the component that it is about.
func about(c *plan.ComponentRequest, note string) string {
	if c == nil {
		return note
	}
	return c.Name + ": " + note
}

func logValues(obs *observation, a *plan.Action) []any {
	if a.Component != nil {
		return []any{"operation", obs.operation.Name, "component", a.Component.Name, "action", a.Kind, "reason", a.Reason}
	}
	return []any{"operation", obs.operation.Name, "node", a.Node, "action", a.Kind, "reason", a.Reason}
}
