package helm

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
)

// Install installs a release, without CRDs. Its namespace must exist.
func (c *Client) Install(ctx context.Context, mark Mark, u Upgrade) error {
	s, history, complete, err := c.begin(ctx, mark)
	if err != nil {
		return c.failed("install", err)
	}
	if complete {
		return nil
	}
	if len(history) > 0 && current(history).Info.Status == rcommon.StatusDeployed {
		return c.failed("install", fmt.Errorf("revision %d is deployed", current(history).Version))
	}
	content, err := u.Chart.open()
	if err != nil {
		return c.failed("install", err)
	}
	if s.config.Capabilities, err = u.Capabilities.helm(); err != nil {
		return c.failed("install", err)
	}
	run := action.NewInstall(s.config)
	run.ReleaseName, run.Namespace, run.Description = s.Name, s.Namespace, mark.String()
	run.SkipCRDs, s.kube.hooks = true, u.HookTimeout
	run.Replace = true // a killed installation leaves a revision
	run.WaitStrategy = kube.HookOnlyStrategy
	run.PostRenderer = replacement(append(append([]Object{}, u.Rendering.Objects...), s.owned(u.Rendering.Hooks)...))
	if _, err := run.RunWithContext(context.WithoutCancel(ctx), content, copyValues(u.Values)); err != nil {
		return c.failed("install", c.settle(s, err))
	}
	if s.driver.failed != nil { // Helm only logs it, and would refuse the release from now on
		return c.failed("install", fmt.Errorf("cannot record the end of the installation: %w", s.driver.failed))
	}
	return nil
}
