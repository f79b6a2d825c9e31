package helm

import (
	"context"
	"fmt"

	rcommon "helm.sh/helm/v4/pkg/release/common"
)

// Prune deletes the oldest revisions, but neither the deployed nor a pending one. An upgrade writes
// a revision for each wave, and Helm's own limit could delete the revision to roll back to.
func (c *Client) Prune(ctx context.Context, keep int) error {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return fmt.Errorf("cannot delete old revisions: %w", err)
	}
	history, err := s.history()
	if err != nil {
		return fmt.Errorf("cannot delete old revisions: %w", err)
	}
	for _, r := range history[:max(0, len(history)-max(0, keep))] {
		if r.Info.Status == rcommon.StatusDeployed || r.Info.Status.IsPending() {
			continue
		}
		if _, err := s.store.Delete(s.Name, r.Version); err != nil {
			return fmt.Errorf("cannot delete revision %d: %w", r.Version, err)
		}
	}
	return nil
}
