package agents

import (
	"context"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// move executes the next action of the journal, and reports whether there was one.
func (h *host) move(ctx context.Context) bool {
	h.mu.Lock()
	if len(h.journal) == 0 {
		h.mu.Unlock()
		return false
	}
	state := node.Read(h.journal)
	move := state.Next()
	h.mu.Unlock()
	switch move.Kind {
	case node.MoveRun:
		h.note(node.Record{Kind: node.Started, Step: move.Step.Name})
		if err := h.do(ctx, move.Step, state.Upgrade); ctx.Err() != nil {
			return false
		} else if err != nil {
			h.note(node.Record{Kind: node.Failed, Step: move.Step.Name, Failure: node.FailureOf(err).Persistent()})
			return true
		}
		h.note(node.Record{Kind: node.Done, Step: move.Step.Name})
	case node.MoveUndo:
		h.note(node.Record{Kind: node.UndoStarted, Step: move.Step.Name})
		h.setVersion(move.Step.Name, state.Upgrade.From)
		h.note(node.Record{Kind: node.Undone, Step: move.Step.Name})
	case node.MoveKeep:
		h.note(node.Record{Kind: node.Kept, Step: move.Step.Name})
	case node.MoveRollback:
		h.note(node.Record{Kind: node.RollbackStarted, Failure: move.Cause})
	case node.MoveFinish:
		h.note(node.Record{Kind: node.Finished, Outcome: move.Outcome})
		h.report()
	case node.MoveWait:
		return false
	}
	return true
}

// note writes a record, unless the host has rejoined meanwhile: then its journal is gone.
func (h *host) note(r node.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.journal) > 0 {
		h.record(r)
	}
}

// do executes a step. A component is down while it is replaced. A host that is reinstalled during
// the step loses its effect.
func (h *host) do(ctx context.Context, step node.Step, work *node.Upgrade) error {
	if step.Name == node.StepEtcd || step.Name == node.StepAPIServer {
		h.server.set(h.version(node.StepAPIServer), true)
	}
	if beforeStep := h.agents.options.BeforeStep; beforeStep != nil {
		if err := beforeStep(ctx, h.name, step.Name); err != nil {
			return err
		}
	}
	takes := h.agents.options.Step
	if step.Prefetch {
		takes = h.agents.options.Fetch
	}
	pause(ctx, about(takes))
	h.mu.Lock()
	same := h.uid == work.NodeUID
	h.mu.Unlock()
	if same {
		h.setVersion(step.Name, work.To)
	}
	return nil
}

// setVersion sets the version of the component that a step changes.
func (h *host) setVersion(step, version string) {
	h.mu.Lock()
	if _, is := h.versions[step]; is && step != node.StepEtcd { // the ClusterReleases here have no other etcd
		h.versions[step] = version
	}
	h.mu.Unlock()
	switch step {
	case node.StepEtcd, node.StepAPIServer:
		h.server.set(h.version(node.StepAPIServer), false)
	}
	switch step {
	case node.StepAPIServer, node.StepControllers, node.StepKubelet:
		h.sync()
	}
}
