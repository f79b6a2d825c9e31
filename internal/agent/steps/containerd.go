package steps

import (
	"cmp"
	"context"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// swapContainerd replaces containerd while containers run: their shims keep them alive.
func swapContainerd(ctx context.Context, h *Host) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	before := h.running(ctx)
	if err := h.checkContainerdConfig(ctx); err != nil {
		return err
	}
	if err := h.mayInstall(ctx, refitv1alpha1.PartContainerd); err != nil {
		return err
	}
	if err := h.track([]string{containerdConfig}, func() error { return h.install(ctx, refitv1alpha1.PartContainerd) }); err != nil {
		return err
	}
	if err := h.mayRestartEtcd(ctx); err != nil {
		return err
	}
	if err := h.restartContainerd(ctx); err != nil {
		return err
	}
	if err := h.proveContainerd(ctx, h.Release.Payload.Containerd); err != nil {
		return err
	}
	h.logLostContainers(ctx, before)
	return h.awaitEtcd(ctx)
}

func undoContainerd(ctx context.Context, h *Host) error {
	if err := h.reinstall(ctx, refitv1alpha1.PartContainerd); err != nil {
		return err
	}
	if err := h.rollback("containerd", containerdConfig); err != nil {
		return err
	}
	if err := h.mayRestartEtcd(ctx); err != nil {
		return err
	}
	if err := h.restartContainerd(ctx); err != nil {
		return err
	}
	if err := h.proveContainerd(ctx, ""); err != nil {
		return err
	}
	return h.awaitEtcd(ctx)
}

// checkContainerdConfig checks that the new version can migrate the configuration. The file itself
// stays: containerd reads the older format, while a migrated file freezes every default and is
// silently ignored by the previous version after a rollback.
func (h *Host) checkContainerdConfig(ctx context.Context) error {
	_, err := cri.MigrateConfig(ctx, h.path("bin", "containerd"), containerdConfig)
	return err
}

func (h *Host) restartContainerd(ctx context.Context) error {
	return h.Effect("restart-containerd", func() error {
		if err := h.Systemd.Reload(ctx); err != nil {
			return err
		}
		return h.Systemd.Restart(ctx, containerdUnit)
	})
}

// proveContainerd waits until the runtime is ready. An empty version accepts any.
func (h *Host) proveContainerd(ctx context.Context, want string) error {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Containerd.Duration())
	defer cancel()
	problem, err := poll(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		problem := ""
		err := h.withCRI(func(client *cri.Client) error {
			got, err := client.Version(ctx)
			if err != nil {
				return err
			}
			if want != "" && artifact.UpstreamVersion(got.Version) != artifact.UpstreamVersion(want) {
				problem = "its version is " + got.Version
				return nil
			}
			return client.Ready(ctx)
		})
		return cmp.Or(errorText(err), problem), nil
	})
	if err == nil {
		return nil
	}
	failure := node.ManualIntervention("ContainerdUnhealthy", err, "Check its log (`journalctl -u containerd`), fix the cause, then run `refit retry`",
		"containerd is not ready: %s", problem)
	failure.LogTail = host.Tail(context.WithoutCancel(ctx), containerdUnit, since, 40)
	return failure
}

func (h *Host) running(ctx context.Context) map[string]string {
	out := map[string]string{}
	_ = h.withCRI(func(client *cri.Client) error {
		containers, err := client.Running(ctx)
		for _, c := range containers {
			out[c.ID] = c.PodName + "/" + c.Name
		}
		return err
	})
	return out
}

// logLostContainers logs the containers that did not survive the swap. All should.
func (h *Host) logLostContainers(ctx context.Context, before map[string]string) {
	after := h.running(ctx)
	var lost []string
	for id, name := range before {
		if _, ok := after[id]; !ok {
			lost = append(lost, name)
		}
	}
	h.Log.Info("containerd was replaced", "containers", len(before), "lost", len(lost), "which", strings.Join(lost, " "))
}
