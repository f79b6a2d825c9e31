package restore

import (
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// InProgress is an open restore, as `refit-agent status` prints it.
type InProgress struct {
	Plan restore.Plan
	// Step is the step that is not done; empty after the last one.
	Step      string
	Canceling bool
	// Failure is that of the last record, nil if the last step did not fail.
	Failure *node.Failure
}

// InProgress returns the open restore of this host, or nil.
func (s Site) InProgress() (*InProgress, error) {
	plan, open, err := s.Open()
	if err != nil || !open {
		return nil, err
	}
	records, err := journal.Read(s.journalFile(plan.Run), s.MachineID)
	if err != nil {
		return nil, err
	}
	step, _ := restore.Next(plan.Situation, records)
	p := &InProgress{Plan: plan, Step: step.Name, Canceling: restore.Canceling(records)}
	if last := records[len(records)-1]; last.Kind == node.Failed {
		p.Failure = last.Failure
	}
	return p, nil
}
