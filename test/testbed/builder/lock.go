package builder

import (
	"context"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// lock takes the build lock of the cache. If another build holds it, lock reports that and waits
// until ctx ends.
func (c cache) lock(ctx context.Context, report *progress.Reporter) (unlock func(), err error) {
	return machine.Lock(ctx, filepath.Join(c.dir, "lock"), func(pid string) {
		report.Printf("waiting for another build (pid %s)", pid)
	})
}
