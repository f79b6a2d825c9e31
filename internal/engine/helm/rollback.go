package helm

import (
	"context"
	"fmt"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// Rollback returns to a revision, which must have no CRDs. The approved deletions are those of
// objects that the upgrade created. After a kill Helm does not find all of them: call Sweep next.
// Without a timeout of hooks, it runs none.
func (c *Client) Rollback(ctx context.Context, mark Mark, to int, deletions []Ref, hookTimeout time.Duration) error {
	s, history, complete, err := c.begin(ctx, mark)
	if err != nil {
		return c.failed("roll back", err)
	}
	if len(history) == 0 {
		return ErrNoRelease
	}
	if complete {
		return nil
	}
	target, err := revision(history, to)
	if err != nil {
		return c.failed("roll back", err)
	}
	objects, err := objectsOf(target.Manifest, "", s.Namespace)
	if err != nil {
		return c.failed("roll back", err)
	}
	if _, crds := withoutCRDs(objects); len(crds) > 0 {
		return fmt.Errorf("cannot roll back the release: revision %d has CRDs", to)
	}
	if err := s.guard(history[len(history)-1], objects, deletions); err != nil {
		return c.failed("roll back", err)
	}
	run := action.NewRollback(s.config)
	run.Version, run.Description, s.kube.hooks = to, mark.String(), hookTimeout
	// A client that changed a field during the upgrade would block the rollback otherwise.
	run.ForceConflicts = target.ApplyMethod == string(release.ApplyMethodServerSideApply)
	run.DisableHooks = hookTimeout == 0
	run.WaitStrategy = kube.HookOnlyStrategy
	if err := run.Run(s.Name); err != nil {
		return c.failed("roll back", c.settle(s, err))
	}
	return nil
}
