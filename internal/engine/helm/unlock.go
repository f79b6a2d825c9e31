package helm

import (
	"context"
	"fmt"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Unlock changes a pending revision to failed, so that Helm accepts the release again. It returns
// the mark of the revision, or false if none is pending. A pending revision of another client of
// Helm is a PendingError. The actions unlock their own revision; this is for the revisions of
// abandoned operations.
func (c *Client) Unlock(ctx context.Context) (Mark, bool, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return Mark{}, false, err
	}
	history, err := s.history()
	if err != nil || len(history) == 0 {
		return Mark{}, false, err
	}
	last := history[len(history)-1]
	if !last.Info.Status.IsPending() {
		return Mark{}, false, nil
	}
	mark, ours := parseMark(last.Info.Description)
	if !ours {
		return Mark{}, false, pendingError(last)
	}
	return mark, true, s.unlock(last)
}

func (s *session) unlock(pending *release.Release) error {
	pending.Info.Status = rcommon.StatusFailed
	if err := s.store.Update(pending); err != nil {
		return fmt.Errorf("cannot unlock revision %d: %w", pending.Version, err)
	}
	return nil
}

func pendingError(r *release.Release) error {
	return &PendingError{Revision: r.Version, Status: r.Info.Status.String(), Description: r.Info.Description}
}
