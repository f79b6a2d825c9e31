package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// runner executes one upgrade: it gets the next move from node.Next, records it, executes it, and
// records the result.
type runner struct {
	host    *steps.Host
	journal *journal.Journal
	boot    string
	log     *slog.Logger
	// changed is called with the new state after every record.
	changed func(*node.State)
	// bounded is called before a step or its undo with the time at which it fails at the latest. It
	// is nil if nobody shows that.
	bounded func(step string, deadline time.Time)
	// late reports whether a move may not start any more; nil if every move may.
	late func(node.Move) bool
	// passed is set once the steps that the journal has passed are logged.
	passed bool
}

// move executes the next move, and reports whether there was one.
func (r *runner) move(ctx context.Context) (bool, error) {
	state := node.Read(r.journal.Records())
	r.logPassed(state)
	move := state.Next()
	switch move.Kind {
	case node.MoveRun:
		return true, r.run(ctx, move)
	case node.MoveUndo:
		return true, r.undo(ctx, move)
	case node.MoveKeep:
		return true, r.write(node.Record{Kind: node.Kept, Step: move.Step.Name})
	case node.MoveRollback:
		return true, r.write(node.Record{Kind: node.RollbackStarted, Failure: move.Cause})
	case node.MoveFinish:
		return true, r.write(node.Record{Kind: node.Finished, Outcome: move.Outcome})
	case node.MoveWait:
	}
	return false, nil
}

// logPassed logs once which steps are skipped: their effect is missing on the host.
func (r *runner) logPassed(state *node.State) {
	if r.passed {
		return
	}
	r.passed = true
	for _, step := range state.Passed() {
		r.log.Warn("skipping a step: the agent that started this upgrade did not have it, and the journal has passed it",
			"step", step.Name, "description", step.Description)
	}
}

// errLate ends a move that was about to start too late. The agent then waits, and reports why.
var errLate = errors.New("the time to start the change has passed")

// awaitLimit bounds the wait before a step, and each attempt of the wait before its undo. It is
// longer than any other package manager or etcd member should take.
const awaitLimit = 30 * time.Minute

// await waits until the next step may start, and reports the wait. It never succeeds for an agent
// that stops or has a newer order: the wait may have been cut short.
func (r *runner) await(ctx context.Context) error {
	move := node.Next(r.journal.Records())
	action := steps.Actions[move.Step.Name]
	var err error
	switch {
	case move.Kind == node.MoveRun && action.Await != nil:
		err = r.awaitRun(ctx, move, action.Await)
	case move.Kind == node.MoveUndo && action.AwaitUndo != nil:
		err = r.awaitUndo(ctx, move, action.AwaitUndo)
	}
	if err != nil {
		return err
	}
	return context.Cause(ctx)
}

// awaitRun does not roll the host back if the wait fails, unless the agent died in the step, which
// may have changed the host then. A step that failed before has decided that itself.
func (r *runner) awaitRun(ctx context.Context, move node.Move, wait func(context.Context, *steps.Host) error) error {
	bounded, cancel := context.WithTimeout(ctx, awaitLimit)
	defer cancel()
	err := r.retry(bounded, move.Step.Name, func() error { return wait(bounded, r.host) })
	if err == nil {
		return nil
	}
	failure := *node.FailureOf(err)
	failure.NoRollback = !move.Open || move.Retry
	return r.failed(ctx, move.Step.Name, &failure)
}

// awaitUndo waits for as long as it takes: a rollback that skips a step leaves the host with two
// versions, and one that does not wait can take the quorum from etcd. The wait stays reported.
func (r *runner) awaitUndo(ctx context.Context, move node.Move, wait func(context.Context, *steps.Host) error) error {
	err := r.retry(ctx, move.Step.Name, func() error {
		ctx, cancel := context.WithTimeout(ctx, awaitLimit)
		defer cancel()
		return wait(ctx, r.host)
	})
	if err == nil {
		return nil
	}
	return r.failed(ctx, move.Step.Name, err)
}

// rest releases what others may need while the agent waits, and restores what the steps stopped: an
// agent that waits or ends must not leave the host without its control plane.
func (r *runner) rest() {
	r.host.ReleaseLocks()
	r.host.Effect = effectOf("rest")
	if err := r.host.RestoreControlPlane(node.Read(r.journal.Records())); err != nil {
		r.log.Error("cannot restore the manifests of the control plane", "error", err)
	}
}

func (r *runner) write(record node.Record) error {
	record.At, record.Boot = time.Now().UTC(), r.boot
	if err := r.journal.Append(record); err != nil {
		return node.HostBroken("JournalBroken", err,
			"Check the disk of "+r.host.Settings.StateDir+" (`dmesg`, `df`), then run `systemctl restart refit-agent`", "cannot write the journal")
	}
	r.changed(node.Read(r.journal.Records()))
	return nil
}

func (r *runner) run(ctx context.Context, move node.Move) error {
	defer r.host.ReleaseQuorum()
	name, action := move.Step.Name, steps.Actions[move.Step.Name]
	ctx, cancel := r.within(ctx, name, steps.Limit(move.Step, r.host.Settings))
	defer cancel()
	if move.Open && !move.Retry {
		r.log.Info("probing an interrupted step", "step", name)
	}
	done := false
	err := r.retry(ctx, name, func() (err error) {
		done, err = r.probe(ctx, action)
		return err
	})
	if err != nil {
		return r.failed(ctx, name, err)
	}
	if !done {
		if !move.Open || move.Retry {
			// Again: the probe may have taken long, or the agent was suspended.
			if r.late != nil && r.late(move) {
				return errLate
			}
			if err := r.start(ctx, name); err != nil {
				return err
			}
		}
		point(name + "/started")
		started := time.Now()
		r.log.Info("step", "step", name, "open", move.Open)
		r.host.Effect = effectOf(name)
		if err := r.retry(ctx, name, func() error { return action.Do(ctx, r.host) }); err != nil {
			return r.failed(ctx, name, err)
		}
		r.log.Info("step done", "step", name, "seconds", time.Since(started).Seconds())
		point(name + "/acted")
	} else {
		r.log.Info("step has nothing to do", "step", name)
	}
	if err := r.write(node.Record{Kind: node.Done, Step: name}); err != nil {
		return err
	}
	point(name + "/done")
	return nil
}

// within bounds a step or its undo.
func (r *runner) within(ctx context.Context, step string, limit time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	if deadline, ok := bounded.Deadline(); ok && r.bounded != nil {
		r.bounded(step, deadline)
	}
	return bounded, cancel
}

// start records the start of a step. If the journal has space left only for a rollback, the step
// fails, but not the agent.
func (r *runner) start(ctx context.Context, name string) error {
	err := r.write(node.Record{Kind: node.Started, Step: name})
	if err != nil && !r.journal.Broken() {
		return r.failed(ctx, name, err)
	}
	return err
}

func (r *runner) probe(ctx context.Context, action steps.Action) (bool, error) {
	if action.Probe == nil {
		return false, nil
	}
	return action.Probe(ctx, r.host)
}

func (r *runner) undo(ctx context.Context, move node.Move) error {
	defer r.host.ReleaseQuorum()
	name, action := move.Step.Name, steps.Actions[move.Step.Name]
	ctx, cancel := r.within(ctx, name, steps.UndoLimit(move.Step, r.host.Settings))
	defer cancel()
	if !move.Open {
		if err := r.write(node.Record{Kind: node.UndoStarted, Step: name}); err != nil {
			return err
		}
	}
	point("undo-" + name + "/started")
	// Disk space was reserved for this.
	if err := steps.ReleaseReserve(r.host.Settings); err != nil {
		r.log.Warn("cannot release the reserved disk space", "error", err)
	}
	r.log.Info("undoing a step", "step", name, "open", move.Open)
	r.host.Effect, r.host.Left = effectOf("undo-"+name), nil
	if action.Undo != nil {
		err := r.retry(ctx, name, func() error {
			r.host.Left = nil
			return action.Undo(ctx, r.host)
		})
		if errors.Is(err, node.ErrKept) {
			r.log.Info("keeping the change of a step", "step", name)
			return r.write(node.Record{Kind: node.Kept, Step: name, Left: r.host.Left})
		}
		if err != nil {
			return r.failed(ctx, name, err)
		}
	}
	point("undo-" + name + "/acted")
	if err := r.write(node.Record{Kind: node.Undone, Step: name, Left: r.host.Left}); err != nil {
		return err
	}
	point("undo-" + name + "/done")
	return nil
}

// failed records a failure, unless the agent is stopping: then the step stays open and is resumed.
func (r *runner) failed(ctx context.Context, step string, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) || errors.Is(cause, errNewOrder) {
		return cause
	}
	failure := node.FailureOf(err).Persistent()
	r.log.Error("step failed", "step", step, "class", failure.Class, "reason", failure.Reason, "message", failure.Message, "remedy", failure.Remedy)
	return r.write(node.Record{Kind: node.Failed, Step: step, Failure: failure})
}

// retry repeats transient failures until the context ends. The last failure stays reported while
// the next attempt waits for nothing else: the controllers judge a wait by its age, from its first
// attempt to its end.
func (r *runner) retry(ctx context.Context, step string, act func() error) error {
	report := r.host.ReportWait
	defer func() {
		r.host.ReportWait = report
		report("")
	}()
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := act()
		if err == nil || node.FailureOf(err).Class != refitv1alpha1.FailureTransient || ctx.Err() != nil {
			return err
		}
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < wait {
			return err
		}
		r.log.Warn("retrying the step", "step", step, "in", wait.String(), "error", err)
		failed := node.FailureOf(err).Text()
		report(failed)
		r.host.ReportWait = func(reason string) { report(cmp.Or(reason, failed)) }
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// effectOf adds crash points around each effect of a step.
func effectOf(step string) func(string, func() error) error {
	return func(name string, change func() error) error {
		point(step + "/" + name + ":before")
		if err := change(); err != nil {
			return err
		}
		point(step + "/" + name + ":after")
		return nil
	}
}
