package operations

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// FollowBackup follows a backup until it ends, and returns it as it ended. It reads two objects by
// name every second, and continues after the API server was unreachable for a while. It ends early
// with the context, and then returns the last progress.
//
// report receives the progress, which may be the same as before, except for the time.
func (c *Cluster) FollowBackup(
	ctx context.Context, b *refitv1alpha1.EtcdBackup, report func(b *cliv1alpha1.Backup, now time.Time) error,
) (*cliv1alpha1.Backup, error) {
	others, _ := c.Backups(ctx) // without them there is no expected duration
	last := progress.NewBackup(c.Name, b, nil, others)
	ticker := time.NewTicker(refreshInterval)
	defer ticker.Stop()
	for {
		started := c.Now()
		found, err := c.readBackup(ctx, b.Name, others)
		switch {
		case ctx.Err() != nil:
			return last, ctx.Err()
		case err == nil:
			last = found
		case errors.Is(err, errNoBackup) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
			return last, err
		case last.UnreachableSince.IsZero():
			unreachable := *last // the reports before keep their value
			unreachable.UnreachableSince, unreachable.UnreachableError = started.UTC(), err.Error()
			last = &unreachable
			c.redial()
		default:
			c.redial()
		}
		if err := report(last, c.Now()); err != nil || last.Ended {
			return last, err
		}
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-ticker.C:
		}
	}
}

func (c *Cluster) readBackup(ctx context.Context, name string, others []refitv1alpha1.EtcdBackup) (*cliv1alpha1.Backup, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	b, order, err := c.backupAndOrder(ctx, name)
	if err != nil {
		return nil, err
	}
	return progress.NewBackup(c.Name, b, order, others), nil
}
