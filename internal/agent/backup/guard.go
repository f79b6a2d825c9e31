package backup

import (
	"context"
	"fmt"
	"runtime/debug"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// guarded runs the attempt. A panic fails it and nothing else: upgrades of this host depend on the
// same process.
func (a *Attempt) guarded(ctx context.Context) {
	debug.SetPanicOnFault(true) // for this goroutine, which reads a mapped file
	defer a.slot.journal.Close()
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			if other, is := r.(*enginebackup.Panic); is {
				stack = other.Stack
			}
			a.manager.Log.Error("backup panicked", "step", a.status.Step, "panic", fmt.Sprint(r), "stack", string(stack))
			a.fail(ctx, node.ManualIntervention("BackupPanicked", nil,
				"Report this fault of Refit with the agent's log: `journalctl -u refit-agent`", "refit-agent failed during the backup: %v", r))
		}
	}()
	a.run(ctx)
}
