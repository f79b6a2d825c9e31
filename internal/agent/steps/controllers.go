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

// controllers are swapped together, after the API server: they must never be newer than it.
var controllers = []string{kubeadm.ControllerManager, kubeadm.Scheduler}

// healthPorts are the default ports of the health endpoints.
var healthPorts = map[string]string{kubeadm.ControllerManager: "10257", kubeadm.Scheduler: "10259"}

func swapControllers(ctx context.Context, h *Host) error {
	if err := h.swapPods(ctx, controllers...); err != nil {
		return err
	}
	return h.proveControllers(ctx)
}

func undoControllers(_ context.Context, h *Host) error {
	var all error
	for _, component := range controllers {
		if err := h.undoManifest(component); !errors.Is(err, node.ErrKept) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// proveControllers waits until each controller is healthy and runs the image of its manifest.
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
	problem, err := poll(ctx, 500*time.Millisecond, func(ctx context.Context) (string, error) {
		if problem := h.containerProblem(ctx, component); problem != "" {
			return problem, nil
		}
		return h.healthProblem(ctx, component), nil
	})
	crash := stop()
	switch {
	case err == nil:
		return nil
	case crash != nil:
		return crash
	}
	failure := node.ManualIntervention("ControllerUnhealthy", err, "Check its log, fix the cause, then run `refit retry`",
		"%s is not healthy: %s", component, problem)
	failure.LogTail = h.logOf(component)
	return failure
}

// containerProblem returns "" if a container of the manifest's image runs.
func (h *Host) containerProblem(ctx context.Context, component string) (problem string) {
	problem = "it has no running container"
	err := h.withCRI(func(client *cri.Client) error {
		containers, err := h.containersOf(ctx, client, component)
		if slices.ContainsFunc(containers, func(c cri.Container) bool { return c.State == cri.StateRunning }) {
			problem = ""
		}
		return err
	})
	return cmp.Or(errorText(err), problem)
}

func (h *Host) healthProblem(ctx context.Context, component string) string {
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
	return probeHealth(ctx, "https://"+net.JoinHostPort(address, port)+"/healthz")
}
