package steps

import (
	"context"
	"errors"

	"github.com/refit-dev/refit/internal/engine/cri"
)

// AwaitStopped waits until no container of a static pod runs whose manifest was removed.
func (h *Host) AwaitStopped(ctx context.Context, component string) error {
	return h.awaitStopped(ctx, []string{component})
}

// RestartKubelet restarts the kubelet. Containers keep running.
func (h *Host) RestartKubelet(ctx context.Context) error { return h.restartKubelet(ctx) }

// PodRuns returns nil if the container of a static pod runs.
func (h *Host) PodRuns(ctx context.Context, component string) error {
	return h.withCRI(func(client *cri.Client) error {
		containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Upgrade.NodeName, component)
		if err != nil {
			return err
		}
		for _, c := range containers {
			if c.State == cri.StateRunning {
				return nil
			}
		}
		return errors.New("no container of " + component + " runs")
	})
}
