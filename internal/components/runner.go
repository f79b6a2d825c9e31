package components

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Runner executes orders: it gets the next move from component.Next, stores its start, executes it,
// and stores the result.
type Runner struct {
	config   *rest.Config // closed with the lease
	lease    context.Context
	client   client.Client // with config
	source   *source
	username string
	log      *slog.Logger
	now      func() time.Time
	limit    func(component.Step) time.Duration
}

// maxRereads bounds how often a journal that another process writes is read again at once.
const maxRereads = 3

// Run executes the order of a component until it ends, waits for another order, or the context
// ends. A nil error means that there is nothing to do until the order changes; after an error the
// caller waits and calls it again.
func (r *Runner) Run(ctx context.Context, name string) error {
	for rereads := 0; ; {
		again, err := r.move(ctx, name)
		if errors.Is(err, errSecondWriter) && rereads < maxRereads {
			rereads++
			r.log.WarnContext(ctx, "Journal changed, reading it again", "component", name)
			continue
		}
		if err != nil || !again {
			return err
		}
		rereads = 0
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// move accepts the order and executes the next move, and reports whether there was one.
func (r *Runner) move(ctx context.Context, name string) (bool, error) {
	j, err := readJournal(ctx, r.client, name, r.now)
	if apierrors.IsNotFound(err) {
		return false, r.thawOrphan(ctx, name)
	}
	if err != nil {
		return false, err
	}
	if err := r.accept(ctx, j); err != nil {
		return false, err
	}
	if j.object.Status.Frozen == nil && len(j.object.Status.Steps) == 0 { // a deleted journal may have left one
		if err := r.thawOrphan(ctx, name); err != nil {
			return false, err
		}
	}
	content, err := r.content(ctx, j)
	if err != nil {
		return r.cannotRun(ctx, j, err)
	}
	list, err := component.StepsOf(j.object.Status.Order.Action, content.Recipe)
	if err != nil {
		return r.cannotRun(ctx, j, err)
	}
	return r.execute(ctx, j, content, list)
}

// thawOrphan lifts the freeze of a component whose journal was deleted.
func (r *Runner) thawOrphan(ctx context.Context, name string) error {
	frozen, err := steps.FreezerOf(r.client, r.username).Frozen(ctx)
	if err != nil || !slices.Contains(frozen, name) {
		return err
	}
	r.log.WarnContext(ctx, "Lifting a freeze without a journal", "component", name)
	return r.thaw(ctx, name)
}

// thawTimeout bounds how long the API server may take to stop applying a policy. The freeze is
// lifted again after that, and other components are not kept waiting.
const thawTimeout = time.Minute

func (r *Runner) thaw(ctx context.Context, name string) error {
	r.log.InfoContext(ctx, "Lifting the freeze", "component", name)
	bounded, cancel := context.WithTimeout(ctx, thawTimeout)
	defer cancel()
	return steps.FreezerOf(r.client, r.username).Thaw(bounded, name)
}

// accept stores the acceptance or the refusal of an order.
func (r *Runner) accept(ctx context.Context, j *journal) error {
	next, refusal := component.Accept(&j.object.Spec, j.object.Status)
	next.Conditions = j.object.Status.Conditions
	j.refusal = refusal
	if refusal != nil {
		r.log.WarnContext(ctx, "Order refused", "component", j.object.Name, "sequence", j.object.Spec.Sequence, "reason", refusal.Reason)
	} else if next.ObservedSequence != j.object.Status.ObservedSequence {
		r.log.InfoContext(ctx, "Order accepted", "component", j.object.Name, "sequence", j.object.Spec.Sequence, "permit", j.object.Spec.Permit,
			"action", j.object.Spec.Action, "version", j.object.Spec.Version)
	}
	sequence := j.object.Spec.Sequence
	return j.change(ctx, func(status *refitv1alpha1.ComponentUpgradeStatus) {
		if j.object.Spec.Sequence == sequence { // otherwise the order changed meanwhile, and is accepted next
			*status = next
		}
	})
}

// content returns the signed content of the order. Once it was saved, the ClusterRelease and its
// key are not needed any more: what was started can be ended.
func (r *Runner) content(ctx context.Context, j *journal) (refitv1alpha1.ReleaseComponent, error) {
	if saved, found, err := steps.SavedComponent(ctx, r.client, j.object); found || err != nil {
		return saved, err
	}
	return r.source.component(ctx, j.object.Name, j.object.Status.Order)
}

// cannotRun stores why an order cannot be executed, unless the cause may resolve itself. A
// freeze is lifted: nothing goes on until somebody has acted.
func (r *Runner) cannotRun(ctx context.Context, j *journal, err error) (bool, error) {
	if ctx.Err() != nil || errors.Is(err, helm.ErrLeaseLost) || steps.Transient(err) {
		return false, err
	}
	s := j.state(nil)
	if s.Frozen != nil && !s.Frozen.Lifted {
		if err := r.thaw(ctx, j.object.Name); err != nil {
			return false, err
		}
		s = s.Thaw(r.now())
		if err := j.store(ctx, s); err != nil {
			return false, err
		}
	}
	if s.Outcome == "" && s.Permit == refitv1alpha1.PermitRollback && j.object.Status.Saved == "" {
		return false, j.store(ctx, s.Finish(component.RolledBack)) // nothing was changed
	}
	if s.Failure != nil || s.Outcome != "" || s.Permit == refitv1alpha1.PermitHold {
		return false, nil
	}
	failure := steps.FailureOf(err)
	r.log.ErrorContext(ctx, "Order cannot be executed", "component", j.object.Name, "reason", failure.Reason, "message", failure.Message)
	return false, j.store(ctx, s.Fail(failure))
}

// execute executes the next move.
func (r *Runner) execute(ctx context.Context, j *journal, content refitv1alpha1.ReleaseComponent, list []component.Step) (bool, error) {
	s := j.state(list)
	if len(s.Records) == 0 && s.Outcome == "" && s.Permit == refitv1alpha1.PermitRollback {
		return false, j.store(ctx, s.Finish(component.RolledBack)) // nothing was started
	}
	if states := r.record(s); len(states) > 1 {
		return true, j.store(ctx, states...)
	}
	move := component.Next(s, r.now())
	switch move.Kind {
	case component.MoveRun:
		return true, r.step(ctx, j, content, s, move)
	case component.MoveThaw:
		if err := r.thaw(ctx, j.object.Name); err != nil {
			_ = j.wait(ctx, err.Error()) // it is tried again until it succeeds
			return false, err
		}
		return true, j.store(ctx, s.Thaw(r.now()))
	case component.MoveWait, component.MoveFail, component.MoveRollback, component.MoveFinish:
	}
	return false, j.store(ctx, s) // the phase depends on the permit
}

// record makes the moves that only change the journal, and returns all states from the given one
// on. They are stored together, so that a failure that is rolled back is not taken for the end.
func (r *Runner) record(s component.State) []component.State {
	states := []component.State{s}
	for {
		switch move := component.Next(s, r.now()); move.Kind {
		case component.MoveFail:
			s = s.Fail(component.Failure{
				Class: refitv1alpha1.FailureManualIntervention, Reason: move.Reason, Message: "the freeze lasted longer than its limit and was lifted",
				Remedy: "Find out which step took so long, then run `refit retry`",
			})
		case component.MoveRollback:
			s = s.RollBack()
		case component.MoveFinish:
			s = s.Finish(move.Outcome)
		case component.MoveWait, component.MoveRun, component.MoveThaw:
			return states
		}
		states = append(states, s)
	}
}

// step runs a step. Its start is stored before it acts.
func (r *Runner) step(ctx context.Context, j *journal, content refitv1alpha1.ReleaseComponent, s component.State, move component.Move) error {
	step, wasFrozen := move.Step, s.Frozen != nil && !s.Frozen.Lifted
	if err := j.store(ctx, s.Start(step)); err != nil {
		return err
	}
	started := r.now()
	r.log.InfoContext(ctx, "Step", "component", j.object.Name, "step", step.Name, "open", move.Open)
	bounded, cancel := r.bound(ctx, s, step)
	defer cancel()
	run := r.newRun(ctx, j, content, s.Steps)
	if step.Waits && !s.RollingBack {
		permitted, stop := r.whilePermitted(bounded, j)
		defer stop()
		run.Permitted = permitted
	}
	err := r.retry(bounded, j, func() error { return run.HideIn(steps.Do(bounded, run, step, s.RollingBack)) })
	if ctx.Err() != nil || errors.Is(err, helm.ErrLeaseLost) || errors.Is(err, errSecondWriter) {
		return cmp.Or(ctx.Err(), err) // the step stays open
	}
	if err != nil && errors.Is(context.Cause(bounded), errFreezeLimit) {
		return nil // the freeze is lifted next, and the step is repeated
	}
	s = j.state(s.Steps) // the step may have recorded a freeze
	if errors.Is(err, steps.ErrHeld) {
		r.log.InfoContext(ctx, "Step interrupted, since its order permits it no longer", "component", j.object.Name, "step", step.Name)
		return j.store(ctx, s.Interrupt(step))
	}
	if err == nil {
		r.log.InfoContext(ctx, "Step done", "component", j.object.Name, "step", step.Name, "seconds", r.now().Sub(started).Seconds())
		s = s.End(step, nil)
		if !wasFrozen && s.Frozen != nil && step.Kind != component.StepFreeze { // the step has lifted its own freeze
			s = s.Thaw(r.now())
		}
	} else {
		failure := steps.FailureOf(err)
		r.log.ErrorContext(ctx, "Step failed", "component", j.object.Name, "step", step.Name, "reason", failure.Reason, "message", failure.Message,
			"remedy", failure.Remedy)
		s = s.End(step, &failure)
	}
	for _, left := range run.Left { // the status has the first ones only
		r.log.WarnContext(ctx, "Left unchanged", "component", j.object.Name, "step", step.Name, "left", left)
	}
	return j.storeAnd(ctx, func(status *refitv1alpha1.ComponentUpgradeStatus) {
		if step.Kind == component.StepSave && err == nil {
			status.Saved, status.From = steps.SavedName(j.object), run.From()
		}
		status.Left = clipped(append(status.Left, run.Left...))
	}, r.record(s)...)
}

// maxLeft is the limit of the API.
const maxLeft = 4

// clipped returns as many texts as the API permits, the first ones. Those about objects that
// stay as they are precede those about objects that were not ready for a while.
func clipped(texts []string) []string {
	var stays, unready []string
	for _, text := range texts {
		text = refitv1alpha1.Clip(text, refitv1alpha1.MaxMessage)
		switch {
		case slices.Contains(stays, text), slices.Contains(unready, text):
		case steps.WasUnready(text):
			unready = append(unready, text)
		default:
			stays = append(stays, text)
		}
	}
	stays = stays[:min(len(stays), maxLeft)]
	return append(stays, unready[:min(len(unready), maxLeft-len(stays))]...)
}

// permitInterval is how often the order of a step that waits is read.
const permitInterval = 2 * time.Second

// whilePermitted returns a context that ends once the order no longer permits a step of the
// upgrade.
func (r *Runner) whilePermitted(ctx context.Context, j *journal) (context.Context, context.CancelFunc) {
	permitted, end := context.WithCancel(context.WithoutCancel(ctx)) // a limit of the step is not taken for it
	if j.state(nil).Permit != refitv1alpha1.PermitApply {
		end()
		return permitted, end
	}
	key, uid := client.ObjectKeyFromObject(j.object), j.object.UID
	go func() {
		tick := time.NewTicker(permitInterval)
		defer tick.Stop()
		for {
			select {
			case <-permitted.Done():
				return
			case <-tick.C:
			}
			var now refitv1alpha1.ComponentUpgrade
			if err := r.client.Get(permitted, key, &now); err == nil && now.UID == uid && now.Spec.Permit != refitv1alpha1.PermitApply {
				end()
			}
		}
	}()
	return permitted, end
}

// errFreezeLimit ends a step whose freeze has reached its limit.
var errFreezeLimit = errors.New("the freeze has reached its limit")

// bound bounds a step by its limit, and by that of the freeze.
func (r *Runner) bound(ctx context.Context, s component.State, step component.Step) (context.Context, context.CancelFunc) {
	limit := r.limit(step)
	if step.Recipe != nil && step.Recipe.Verify != nil {
		limit += step.Recipe.Verify.Soak.Duration
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	if s.Frozen == nil || s.Frozen.Lifted {
		return bounded, cancel
	}
	const margin = time.Second // Next compares with seconds
	frozen, cancelFrozen := context.WithDeadlineCause(bounded, s.Frozen.Since.Add(s.Frozen.Limit+margin), errFreezeLimit)
	return frozen, func() { cancelFrozen(); cancel() }
}

func (r *Runner) newRun(ctx context.Context, j *journal, content refitv1alpha1.ReleaseComponent, list []component.Step) *steps.Run {
	run := &steps.Run{
		Config: r.config, Scheme: r.client.Scheme(), Lease: r.lease, Log: r.log, Username: r.username, Owner: j.object, Component: content, Steps: list,
		Chart: func(ctx context.Context) ([]byte, error) { return r.source.chart(ctx, content.Chart) },
		Freeze: func(ctx context.Context, limit time.Duration) error {
			s := j.state(list)
			return j.store(ctx, s.Freeze(r.now().UTC().Truncate(time.Second), limit))
		},
	}
	run.Waiting = func(what string) {
		if err := j.wait(ctx, run.Hide(what)); err != nil {
			r.log.InfoContext(ctx, "Cannot report what a step waits for", "component", j.object.Name, "error", err)
		}
	}
	return run
}

// maxRetryWait bounds the time between two attempts of a step.
const maxRetryWait = 10 * time.Second

// retry repeats a step whose failure may resolve itself, until its context ends.
func (r *Runner) retry(ctx context.Context, j *journal, act func() error) error {
	for wait := time.Second; ; wait = min(2*wait, maxRetryWait) {
		err := act()
		if err == nil || !steps.Transient(err) || ctx.Err() != nil || errors.Is(err, helm.ErrLeaseLost) {
			return err
		}
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < wait {
			return err
		}
		r.log.WarnContext(ctx, "Step failed, repeating it", "component", j.object.Name, "after", wait.String(), "error", err)
		_ = j.wait(ctx, err.Error()) // the next one may succeed
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}
