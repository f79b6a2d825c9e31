package helm

import (
	"context"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
)

// Install installs a release, without CRDs. Its namespace must exist.
func (c *Client) Install(ctx context.Context, mark Mark, u Upgrade) error {
	s, _, complete, err := c.begin(ctx, mark)
	if err != nil {
		return c.failed("install", err)
	}
	if complete {
		return nil
	}
	content, err := u.Chart.open()
	if err != nil {
		return c.failed("install", err)
	}
	if s.config.Capabilities, err = u.Capabilities.helm(); err != nil {
		return c.failed("install", err)
	}
	waiting, cancel := context.WithTimeout(ctx, u.HookTimeout)
	defer cancel()
	run := action.NewInstall(s.config)
	run.ReleaseName, run.Namespace, run.Description = s.Name, s.Namespace, mark.String()
	run.SkipCRDs, run.Timeout = true, u.HookTimeout
	run.Replace = true // a killed installation leaves a revision
	run.WaitStrategy, run.WaitOptions = kube.HookOnlyStrategy, []kube.WaitOption{kube.WithWaitContext(waiting)}
	run.PostRenderer = replacement(append(append([]Object{}, u.Rendering.Objects...), s.owned(u.Rendering.Hooks)...))
	if _, err := run.RunWithContext(context.WithoutCancel(ctx), content, copyValues(u.Values)); err != nil {
		return c.failed("install", s.settle(err))
	}
	return nil
}
