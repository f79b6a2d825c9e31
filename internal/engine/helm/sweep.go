package helm

import (
	"context"
	"fmt"
	"maps"
	"slices"

	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// A Sweeping is the result of a sweep.
type Sweeping struct {
	Deleted []Ref
	// Orphans are marked as the release's and not in its deployed revision, but their deletion is
	// not approved.
	Orphans []Ref
}

// Sweep deletes objects and hooks that a revision had and the deployed one does not have. It only
// deletes what is marked as the release's and approved, and never a CRD.
func (c *Client) Sweep(ctx context.Context, approved []Ref) (Sweeping, error) {
	var result Sweeping
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return result, c.failed("sweep", err)
	}
	history, err := s.history()
	if err != nil {
		return result, c.failed("sweep", err)
	}
	if len(history) == 0 {
		return result, ErrNoRelease
	}
	last := history[len(history)-1]
	if last.Info.Status != rcommon.StatusDeployed {
		return result, c.failed("sweep", fmt.Errorf("revision %d is %s, not deployed", last.Version, last.Info.Status))
	}
	former, err := s.former(history, last)
	if err != nil {
		return result, c.failed("sweep", err)
	}
	may := refSet(approved)
	for _, ref := range former {
		if err := s.sweep(ref, may[ref], &result); err != nil {
			return result, c.failed("sweep", err)
		}
	}
	return result, nil
}

func (s *session) sweep(ref Ref, approved bool, result *Sweeping) error {
	if !approved {
		found, err := s.removable(ref)
		if found != nil {
			result.Orphans = append(result.Orphans, ref)
		}
		return err
	}
	removed, err := s.remove(ref)
	if removed {
		result.Deleted = append(result.Deleted, ref)
	}
	return err
}

// former returns what former revisions had and the last one does not have.
func (s *session) former(history []*release.Release, last *release.Release) ([]Ref, error) {
	former := map[Ref]bool{}
	for _, r := range history {
		objects, hooks, err := contentOf(r)
		if err != nil {
			return nil, err
		}
		maps.Copy(former, refsOf(objects))
		maps.Copy(former, refsOf(hooks))
	}
	objects, hooks, err := contentOf(last)
	if err != nil {
		return nil, err
	}
	for _, object := range slices.Concat(objects, hooks) {
		if err := s.exclude(former, object.Ref); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Keys(former), compareRefs), nil
}
