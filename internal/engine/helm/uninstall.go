package helm

import (
	"context"
	"fmt"
	"slices"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Uninstall deletes what an installation created: its objects, its hooks and its revisions. CRDs
// and objects that are to be kept stay. It runs no hooks, since the installation may have failed
// before what they need was there. It succeeds if there is no release.
//
// All revisions must be of the operation and sequence of the mark: a release of somebody else is a
// NotInstalledError. Older ones are of a release that was uninstalled before, and stay.
func (c *Client) Uninstall(ctx context.Context, mark Mark) error {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return c.failed("uninstall", err)
	}
	history, err := s.history()
	if err != nil {
		return c.failed("uninstall", err)
	}
	ours := func(r *release.Release) bool {
		found, ours := parseMark(r.Info.Description)
		return ours && found.Operation == mark.Operation && found.Sequence == mark.Sequence
	}
	first := slices.IndexFunc(history, ours)
	if first < 0 { // an earlier attempt was complete, or the release is somebody else's
		if len(history) == 0 || history[len(history)-1].Info.Status == rcommon.StatusUninstalled {
			return nil
		}
		first = 0
	}
	before, history := history[:first], history[first:]
	for _, r := range history {
		if !ours(r) {
			return c.failed("uninstall", &NotInstalledError{Revision: r.Version, Description: r.Info.Description})
		}
	}
	refs, err := s.former(history, &release.Release{Info: &release.Info{}})
	if err != nil {
		return c.failed("uninstall", err)
	}
	for _, ref := range slices.Backward(refs) {
		if _, err := s.remove(ref); err != nil {
			return c.failed("uninstall", err)
		}
	}
	if err := s.uninstalledAgain(before); err != nil {
		return c.failed("uninstall", err)
	}
	for _, r := range history { // the newest one last: it proves that the rest is ours
		if _, err := s.store.Delete(s.Name, r.Version); err != nil {
			return c.failed("uninstall", fmt.Errorf("cannot delete revision %d: %w", r.Version, err))
		}
	}
	return nil
}

// uninstalledAgain restores the state of a release that was uninstalled before the installation,
// which Helm marks as superseded.
func (s *session) uninstalledAgain(before []*release.Release) error {
	if len(before) == 0 || before[len(before)-1].Info.Status != rcommon.StatusSuperseded {
		return nil
	}
	last := before[len(before)-1]
	last.Info.Status = rcommon.StatusUninstalled
	if err := s.store.Update(last); err != nil {
		return fmt.Errorf("cannot restore revision %d: %w", last.Version, err)
	}
	return nil
}

// RevisionOf returns the newest revision that an action completed, or 0 if there is none.
func (c *Client) RevisionOf(ctx context.Context, mark Mark) (int, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return 0, err
	}
	history, err := s.history()
	if err != nil {
		return 0, err
	}
	for _, r := range slices.Backward(history) {
		if r.Info.Description == mark.String() && !r.Info.Status.IsPending() {
			return r.Version, nil
		}
	}
	return 0, nil
}

// Started reports whether an action has written a revision, whatever became of it.
func (c *Client) Started(ctx context.Context, mark Mark) (bool, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return false, err
	}
	return s.started(mark)
}

func (s *session) started(mark Mark) (bool, error) {
	history, err := s.history()
	return slices.ContainsFunc(history, func(r *release.Release) bool {
		found, ours := parseMark(r.Info.Description)
		return ours && found == mark
	}), err
}

// Revision returns a revision.
func (c *Client) Revision(ctx context.Context, number int) (Record, error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return Record{}, err
	}
	history, err := s.history()
	if err != nil {
		return Record{}, err
	}
	found, err := revision(history, number)
	if err != nil {
		return Record{}, err
	}
	return recordOf(found)
}
