package backup

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
)

// together runs functions at the same time, and ends them with the first error. A panic is returned
// even if another error was first.
func together(ctx context.Context, work []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	failed := make([]error, len(work))
	for i, do := range work {
		group.Go(func() error {
			failed[i] = recovered.Call(func() error { return do(ctx) })
			return failed[i]
		})
	}
	err := group.Wait()
	if i := slices.IndexFunc(failed, func(err error) bool { _, is := errors.AsType[*recovered.Panic](err); return is }); i >= 0 {
		return failed[i]
	}
	return err
}
