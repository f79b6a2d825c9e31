package hoststatus

import (
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Line describes the state in one line, without its time.
func Line(s *cliv1alpha1.HostStatus) string {
	parts := []string{s.Phase}
	if step := s.Step; step != nil {
		parts = append(parts, inProgress(step))
	} else if last := lastStep(s); last != "" {
		parts = append(parts, last)
	}
	if s.Waits != "" {
		parts = append(parts, "waits: "+s.Waits)
	}
	if s.Refusal != nil {
		parts = append(parts, fmt.Sprintf("order refused: %s (%s)", s.Refusal.Message, s.Refusal.Reason))
	}
	if s.Restore != nil {
		parts = append(parts, "unfinished restore of etcd at "+s.Restore.Step)
	}
	if e := s.Error; e != nil && s.Phase != string(refitv1alpha1.NodeApplying) {
		parts = append(parts, fmt.Sprintf("failed: %s (%s)", e.Message, e.Reason))
	}
	return strings.Join(parts, ", ")
}

func inProgress(step *cliv1alpha1.CurrentStep) string {
	out := step.Name
	if step.Undo {
		out = "undo " + out
	}
	if !step.RollsBackAt.IsZero() {
		out += fmt.Sprintf(" (rolls back by itself at %s UTC at the latest)", step.RollsBackAt.UTC().Format(time.TimeOnly))
	}
	return out
}

// lastStep names what has just ended, if the upgrade is in progress.
func lastStep(s *cliv1alpha1.HostStatus) string {
	switch refitv1alpha1.NodePhase(s.Phase) {
	case refitv1alpha1.NodePrefetching, refitv1alpha1.NodeApplying, refitv1alpha1.NodeRollingBack:
	case refitv1alpha1.NodeIdle, refitv1alpha1.NodePrefetched, refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeFailed, refitv1alpha1.NodeRolledBack:
		return ""
	}
	var last *cliv1alpha1.HostStep
	var at time.Time
	for i := range s.Steps {
		end := s.Steps[i].CompletionTime
		if undone := s.Steps[i].UndoCompletionTime; undone.After(end) {
			end = undone
		}
		if !end.Before(at) {
			last, at = &s.Steps[i], end
		}
	}
	if last == nil {
		return ""
	}
	return last.Name + " " + strings.ToLower(last.State)
}
