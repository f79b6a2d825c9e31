package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// runner carries out one work: it asks node.Next what to do, writes down what it is about to do, does it, and writes down that it did.
type runner struct {
	host    *steps.Host
	journal *journal.Journal
	boot    string
	log     *slog.Logger
	// told is called after every record, with the state that it led to.
	told func(*node.State)
}

// move does the next thing, and says whether there was one.
func (r *runner) move(ctx context.Context) (bool, error) {
	move := node.Next(r.journal.Records())
	switch move.Kind {
	case node.MoveRun:
		return true, r.do(ctx, move)
	case node.MoveUndo:
		return true, r.take(ctx, move)
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

// rest restores the API server that swap-etcd stopped: an agent that waits or ends does not leave the
// host without one.
func (r *runner) rest() {
	if !node.Read(r.journal.Records()).APIServerStopped() {
		return
	}
	r.host.Effect = effectOf("rest")
	if err := r.host.RestoreAPIServer(); err != nil {
		r.log.Error("cannot restore the API server's manifest", "error", err)
	}
}

func (r *runner) write(record node.Record) error {
	record.At, record.Boot = time.Now().UTC(), r.boot
	if err := r.journal.Append(record); err != nil {
		return node.HostBroken("JournalBroken", err,
			"look at the disk under "+r.host.Settings.StateDir+" (dmesg, df), then restart refit-agent", "the journal cannot be written")
	}
	r.told(node.Read(r.journal.Records()))
	return nil
}

func (r *runner) do(ctx context.Context, move node.Move) error {
	name, action := move.Step.Name, steps.Actions[move.Step.Name]
	ctx, cancel := context.WithTimeout(ctx, move.Step.Limit)
	defer cancel()
	if move.Open && !move.Retry {
		r.log.Info("a step was cut off; looking how far it came", "step", name)
	}
	done := false
	err := r.insist(ctx, name, func() (err error) {
		done, err = r.probe(ctx, action)
		return err
	})
	if err != nil {
		return r.failed(ctx, name, err)
	}
	if !done {
		if !move.Open || move.Retry {
			if err := r.begin(ctx, name); err != nil {
				return err
			}
		}
		point(name + "/begun")
		begun := time.Now()
		r.log.Info("step", "step", name, "open", move.Open)
		r.host.Effect = effectOf(name)
		if err := r.insist(ctx, name, func() error { return action.Do(ctx, r.host) }); err != nil {
			return r.failed(ctx, name, err)
		}
		r.log.Info("step done", "step", name, "seconds", time.Since(begun).Seconds())
		point(name + "/acted")
	}
	if err := r.write(node.Record{Kind: node.Done, Step: name}); err != nil {
		return err
	}
	point(name + "/done")
	return nil
}

// begin writes down that a step begins. A journal that has no room for that, but for the way back, makes the step fail and not the agent.
func (r *runner) begin(ctx context.Context, name string) error {
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

// undoLimit is how long the undoing of one step may take.
const undoLimit = 5 * time.Minute

func (r *runner) take(ctx context.Context, move node.Move) error {
	name, action := move.Step.Name, steps.Actions[move.Step.Name]
	ctx, cancel := context.WithTimeout(ctx, undoLimit)
	defer cancel()
	if !move.Open {
		if err := r.write(node.Record{Kind: node.UndoStarted, Step: name}); err != nil {
			return err
		}
	}
	point("undo-" + name + "/begun")
	// Room was set aside for exactly this.
	if err := host.ReleaseReserve(r.host.Settings.ReserveFile()); err != nil {
		r.log.Warn("the reserve could not be given up", "error", err)
	}
	r.log.Info("undoing a step", "step", name, "open", move.Open)
	r.host.Effect, r.host.Left = effectOf("undo-"+name), nil
	if action.Undo != nil {
		err := r.insist(ctx, name, func() error {
			r.host.Left = nil
			return action.Undo(ctx, r.host)
		})
		if errors.Is(err, node.ErrKept) {
			r.log.Info("what a step brought stays", "step", name)
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

// failed writes a failure down, unless the agent itself is being stopped: then the step stays open and is taken up again.
func (r *runner) failed(ctx context.Context, step string, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) || errors.Is(cause, errNewOrder) {
		return cause
	}
	failure := node.FailureOf(err).Persistent()
	r.log.Error("step failed", "step", step, "class", failure.Class, "reason", failure.Reason, "message", failure.Message, "remedy", failure.Remedy)
	return r.write(node.Record{Kind: node.Failed, Step: step, Failure: failure})
}

// insist repeats what fails for a passing reason, until the step's time is over.
func (r *runner) insist(ctx context.Context, step string, act func() error) error {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := act()
		r.host.ReportWait("")
		if err == nil || node.FailureOf(err).Class != refitv1alpha1.FailureTransient || ctx.Err() != nil {
			return err
		}
		deadline, _ := ctx.Deadline()
		if time.Until(deadline) < wait {
			return err
		}
		r.log.Warn("step will be tried again", "step", step, "in", wait.String(), "error", err)
		r.host.ReportWait(node.FailureOf(err).Text())
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// effectOf names the points around each change of a step.
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
