package node

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Status returns the status of the upgrade. It depends only on the journal, so it is the same after
// a crash.
func (s *State) Status() refitv1alpha1.NodeUpgradeStatus {
	out := refitv1alpha1.NodeUpgradeStatus{
		ObservedSequence: s.Order.Sequence,
		Phase:            s.phase(),
		Step:             s.current,
		StartTime:        stamp(s.StartTime),
	}
	for _, step := range s.Steps {
		if at := s.steps[step.Name]; at.started {
			out.Steps = append(out.Steps, refitv1alpha1.StepStatus{
				Name: step.Name, State: at.state(s.RollingBack), StartTime: stamp(at.startedAt), CompletionTime: stamp(at.finishedAt),
			})
		}
	}
	for _, text := range s.Left[:min(len(s.Left), refitv1alpha1.MaxLeft)] {
		out.Left = append(out.Left, refitv1alpha1.Clip(Redact(text), refitv1alpha1.MaxLeftText))
	}
	out.MoreLeft = int64(len(s.Left) - len(out.Left))
	out.Error = s.nodeError()
	switch out.Phase {
	case refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeRolledBack:
		out.CompletionTime = stamp(s.FinishedAt)
	case refitv1alpha1.NodeFailed:
		out.CompletionTime = stamp(s.FailedAt)
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetching, refitv1alpha1.NodePrefetched, refitv1alpha1.NodeApplying, refitv1alpha1.NodeRollingBack:
	}
	return out
}

func (s *State) phase() refitv1alpha1.NodePhase {
	switch {
	case s.Upgrade == nil:
		return refitv1alpha1.NodeIdle
	case s.Outcome != "":
		return s.Outcome
	case s.Failure != nil:
		if kind := s.Next().Kind; kind == MoveRollback || kind == MoveUndo || kind == MoveKeep {
			return refitv1alpha1.NodeRollingBack
		}
		return refitv1alpha1.NodeFailed
	case s.RollingBack || s.Order.Permit == refitv1alpha1.PermitRollback:
		return refitv1alpha1.NodeRollingBack
	case s.applying():
		return refitv1alpha1.NodeApplying
	case s.prefetched():
		return refitv1alpha1.NodePrefetched
	case s.Order.Permit == refitv1alpha1.PermitHold || s.Order.Permit == refitv1alpha1.PermitBackup:
		return refitv1alpha1.NodeIdle
	}
	return refitv1alpha1.NodePrefetching
}

// applying reports whether the host is being changed, beyond a prefetch.
func (s *State) applying() bool {
	return s.Order.Permit == refitv1alpha1.PermitApply || s.Changed()
}

// prefetched reports whether everything is on the host. A backup does not change that.
func (s *State) prefetched() bool {
	return (s.Order.Permit == refitv1alpha1.PermitPrefetch || s.Order.Permit == refitv1alpha1.PermitBackup) &&
		!slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Prefetch && !s.steps[step.Name].done })
}

// nodeError returns the failure to report: the last one, or the one that caused the rollback.
func (s *State) nodeError() *refitv1alpha1.NodeError {
	f, step, at := s.Failure, s.FailedStep, s.FailedAt
	if f == nil {
		f, step, at = s.rollbackCause, s.rollbackStep, s.rollbackAt
	}
	if f == nil {
		return nil
	}
	return &refitv1alpha1.NodeError{
		Class: f.Class, Reason: f.Reason, Step: step, Message: f.Text(), At: *stamp(at),
		Remedy:  refitv1alpha1.Clip(f.Remedy, refitv1alpha1.MaxMessage),
		LogTail: refitv1alpha1.ClipFront(f.LogTail, refitv1alpha1.MaxLogTail),
	}
}

func (s *stepState) state(rollingBack bool) refitv1alpha1.StepState {
	switch {
	case s.undone && !s.kept:
		return refitv1alpha1.StepUndone
	case s.done:
		return refitv1alpha1.StepDone
	case s.failed || rollingBack:
		return refitv1alpha1.StepFailed
	}
	return refitv1alpha1.StepRunning
}

func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &out
}
