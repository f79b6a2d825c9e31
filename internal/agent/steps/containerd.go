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

// swapContainerd replaces containerd below running containers: their shims hold them meanwhile.
func swapContainerd(ctx context.Context, h *Host) error {
	if err := h.tools(ctx); err != nil {
		return err
	}
	before := h.running(ctx)
	if err := h.checkContainerdConfig(ctx); err != nil {
		return err
	}
	if err := h.track([]string{containerdTOM}, func() error { return h.install(ctx, refitv1alpha1.PartContainerd) }); err != nil {
		return err
	}
	if err := h.restartContainerd(ctx); err != nil {
		return err
	}
	if err := h.proveContainerd(ctx, h.Release.Payload.Containerd); err != nil {
		return err
	}
	h.tellLost(ctx, before)
	return nil
}

func unswapContainerd(ctx context.Context, h *Host) error {
	if err := h.reinstall(ctx, refitv1alpha1.PartContainerd); err != nil {
		return err
	}
	if err := h.rollback("containerd", containerdTOM); err != nil {
		return err
	}
	if err := h.restartContainerd(ctx); err != nil {
		return err
	}
	return h.proveContainerd(ctx, "")
}

// checkContainerdConfig sees that the new version takes the owner's configuration over whole. The file itself stays as it is: containerd reads an older format,
// and what its own migration writes freezes every default, and is silently ignored by the version that a host may have to go back to.
func (h *Host) checkContainerdConfig(ctx context.Context) error {
	_, err := cri.MigrateConfig(ctx, h.path("bin", "containerd"), containerdTOM)
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

// proveContainerd asks the runtime itself. An empty version stands for whatever is installed.
func (h *Host) proveContainerd(ctx context.Context, want string) error {
	since := time.Now()
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Containerd.Duration())
	defer cancel()
	lacking, err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		lacking := ""
		err := h.withCRI(func(client *cri.Client) error {
			got, err := client.Version(ctx)
			if err != nil {
				return err
			}
			if want != "" && artifact.UpstreamVersion(got.Version) != artifact.UpstreamVersion(want) {
				lacking = "it is at " + got.Version
				return nil
			}
			return client.Ready(ctx)
		})
		return cmp.Or(says(err), lacking), nil
	})
	if err == nil {
		return nil
	}
	failure := node.ManualIntervention("ContainerdUnwell", err, "read its log (journalctl -u containerd), mend the cause, then refit retry",
		"containerd is not ready: %s", lacking)
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

// tellLost logs which containers did not survive: none should be among them.
func (h *Host) tellLost(ctx context.Context, before map[string]string) {
	after := h.running(ctx)
	var lost []string
	for id, name := range before {
		if _, ok := after[id]; !ok {
			lost = append(lost, name)
		}
	}
	h.Log.Info("containerd was replaced", "containers", len(before), "lost", len(lost), "which", strings.Join(lost, " "))
}
