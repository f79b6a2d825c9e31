package backup

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// guarded runs the attempt. A panic fails it and nothing else: upgrades of this host depend on the
// same process.
func (a *Attempt) guarded(ctx context.Context) {
	defer a.slot.journal.Close()
	err := recovered.Call(func() error {
		a.run(ctx)
		return nil
	})
	if err != nil {
		a.fail(ctx, a.explain(ctx, err))
	}
}

// panicked returns the failure of a panic, in the goroutine of the attempt or in another one.
func (a *Attempt) panicked(p *recovered.Panic) *node.Failure {
	a.manager.Log.Error("backup panicked", "step", a.status.Step, "error", p, "stack", string(p.Stack))
	return node.ManualIntervention("BackupPanicked", nil,
		"Report this fault of Refit with the agent's log: `journalctl -u refit-agent`", "refit-agent failed during the backup: %v", p.Value)
}
