package helm

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Adopt writes a revision that is equal to the deployed one, without its CRDs, and runs no hooks.
// From then on Helm can neither delete nor roll back a CRD. It returns the number of the revision.
// The CRDs must be kept first: see KeepCRDs.
//
// It is a rollback to the deployed revision, because a record has no dependencies of its chart:
// Helm could not render it again.
func (c *Client) Adopt(ctx context.Context, mark Mark) (int, error) {
	s, history, complete, err := c.begin(ctx, mark)
	if err != nil {
		return 0, c.failed("adopt", err)
	}
	if len(history) == 0 {
		return 0, ErrNoRelease
	}
	last := history[len(history)-1]
	if complete {
		return last.Version, nil
	}
	source := current(history)
	objects, err := objectsOf(source.Manifest, "", s.Namespace)
	if err != nil {
		return 0, c.failed("adopt", err)
	}
	objects, _ = withoutCRDs(objects)
	abandoned, err := s.abandoned(history, source)
	if err != nil {
		return 0, c.failed("adopt", err)
	}
	if err := s.guard(last, objects, abandoned); err != nil {
		return 0, c.failed("adopt", err)
	}
	s.driver.change = func(r *release.Release) error { return s.adopted(r, objects) }
	run := action.NewRollback(s.config)
	run.Version, run.DisableHooks, run.Description = source.Version, true, mark.String()
	run.WaitStrategy = kube.HookOnlyStrategy
	if err := run.Run(s.Name); err != nil {
		return 0, c.failed("adopt", c.deployedAgain(s, source, c.settle(s, err)))
	}
	return last.Version + 1, nil
}

// deployedAgain restores the status of the revision that could not be adopted, and returns the
// error of the action.
func (c *Client) deployedAgain(s *session, source *release.Release, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), settleTimeout)
	defer cancel()
	last, err := c.open(ctx, s.driver.mark)
	if err == nil {
		err = last.restoreDeployed(source, s.driver.created)
	}
	if err != nil {
		return fmt.Errorf("%w; cannot restore revision %d: %w", cause, source.Version, err)
	}
	return cause
}

// restoreDeployed marks the revision before a rollback as deployed again if the one that the
// rollback has written failed: Helm supersedes it nevertheless, and the release would count as
// that of the failed one.
func (s *session) restoreDeployed(before *release.Release, written string) error {
	if written == "" || before.Info.Status != rcommon.StatusDeployed {
		return nil
	}
	record, err := s.driver.Get(written)
	if err != nil {
		return err
	}
	if r, ok := record.(*release.Release); !ok || r.Info.Status != rcommon.StatusFailed {
		return nil
	}
	return s.store.Update(before)
}

// abandoned returns the objects of what Refit has started since a revision and never completed.
func (s *session) abandoned(history []*release.Release, since *release.Release) (refs []Ref, err error) {
	for _, r := range history {
		if _, ours := parseMark(r.Info.Description); !ours || r.Version <= since.Version {
			continue
		}
		objects, err := objectsOf(r.Manifest, "", s.Namespace)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			refs = append(refs, object.Ref)
		}
	}
	return refs, nil
}

// adopted gives a revision its objects, removes CRDs from its hooks, and marks those as the
// release's.
func (s *session) adopted(r *release.Release, objects []Object) (err error) {
	if r.Manifest, err = streamOf(objects); err != nil {
		return err
	}
	var hooks []*release.Hook
	for _, hook := range r.Hooks {
		found, err := objectsOf(hook.Manifest, hook.Path, r.Namespace)
		if err != nil {
			return err
		}
		if found, _ = withoutCRDs(found); len(found) == 0 {
			continue
		}
		if hook.Manifest, err = streamOf(s.owned(found)); err != nil {
			return err
		}
		hooks = append(hooks, hook)
	}
	r.Hooks = hooks
	return nil
}
