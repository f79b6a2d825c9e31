package steps

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// controllers go together, after their API server: they may never be newer than it.
var controllers = []string{kubeadm.ControllerManager, kubeadm.Scheduler}

// The ports on which they tell of their health, where their manifests name no other.
var healthPorts = map[string]string{kubeadm.ControllerManager: "10257", kubeadm.Scheduler: "10259"}

func swapControllers(ctx context.Context, h *Host) error {
	if err := h.swapPods(ctx, controllers...); err != nil {
		return err
	}
	return h.proveControllers(ctx)
}

func unswapControllers(_ context.Context, h *Host) error {
	var all error
	for _, component := range controllers {
		if err := h.unswapManifest(component); !errors.Is(err, node.ErrKept) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// proveControllers asks each for its health, and the container runtime whether what answers is what the manifest names.
func (h *Host) proveControllers(ctx context.Context) error {
	h.awaitKubelet(ctx)
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Controllers.Duration())
	defer cancel()
	for _, component := range controllers {
		if err := h.proveController(ctx, component); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) proveController(ctx context.Context, component string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := h.watchCrashes(ctx, component, cancel)
	lacking, err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		if lacking := h.runs(ctx, component); lacking != "" {
			return lacking, nil
		}
		return h.answers(ctx, component), nil
	})
	crash := stop()
	switch {
	case err == nil:
		return nil
	case crash != nil:
		return crash
	}
	failure := node.ManualIntervention("ControllerUnwell", err, "read its log, mend the cause, then refit retry", "%s is not healthy: %s", component, lacking)
	failure.LogTail = h.logOf(component)
	return failure
}

// runs says what is lacking until a container of the manifest's image runs.
func (h *Host) runs(ctx context.Context, component string) (lacking string) {
	lacking = "no container of it runs"
	err := h.withCRI(func(client *cri.Client) error {
		containers, err := h.containersOf(ctx, client, component)
		if slices.ContainsFunc(containers, func(c cri.Container) bool { return c.State == cri.StateRunning }) {
			lacking = ""
		}
		return err
	})
	return cmp.Or(says(err), lacking)
}

func (h *Host) answers(ctx context.Context, component string) string {
	text, err := os.ReadFile(manifest(component))
	if err != nil {
		return err.Error()
	}
	m, err := kubeadm.Parse(text)
	if err != nil {
		return err.Error()
	}
	port, address := healthPorts[component], "127.0.0.1"
	if set := m.Flags["secure-port"]; len(set) > 0 {
		port = set[len(set)-1]
	}
	if set := m.Flags["bind-address"]; len(set) > 0 && set[len(set)-1] != "0.0.0.0" && !strings.HasPrefix(set[len(set)-1], "::") {
		address = set[len(set)-1]
	}
	return healthy(ctx, "https://"+net.JoinHostPort(address, port)+"/healthz")
}
