package steps

import (
	"cmp"
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// terminationDelay is how long the kubelet takes to finish a pod after its container has exited. It
// starts a manifest that is written earlier only at its next sync, many seconds later.
const terminationDelay = 1500 * time.Millisecond

// gracePeriod is how long a component may take to exit before the agent stops it. A terminating API
// server rejects new requests and waits for its watches, which never end, until the kubelet kills
// it after 30 s.
var gracePeriod = map[string]time.Duration{
	kubeadm.APIServer: 5 * time.Second, kubeadm.Etcd: 20 * time.Second, kubeadm.ControllerManager: 20 * time.Second, kubeadm.Scheduler: 20 * time.Second,
}

// stopTimeout is the timeout of the container runtime for a container that the agent stops. An API
// server is terminating by then, so it gets none.
var stopTimeout = map[string]time.Duration{kubeadm.Etcd: 10 * time.Second, kubeadm.ControllerManager: 5 * time.Second, kubeadm.Scheduler: 5 * time.Second}

// awaitStopped waits until no container of the components runs. Their manifests are removed.
func (h *Host) awaitStopped(ctx context.Context, components []string) error {
	stuck, err := h.endPods(ctx, components)
	if err != nil {
		return err
	}
	if stuck {
		h.Log.Warn("restarting the kubelet because it does not stop static pods", "pods", components)
		return h.restartKubelet(ctx)
	}
	select {
	case <-ctx.Done():
	case <-time.After(terminationDelay):
	}
	return ctx.Err()
}

// prepareSwap checks the images again, so that no pod stops for an image that the container runtime
// has removed.
func (h *Host) prepareSwap(ctx context.Context) error {
	h.awaitKubelet(ctx)
	return checkImages(ctx, h)
}

// endPods waits until static pods without manifests have ended, and reports whether the kubelet is
// stuck.
//
// A kubelet that has not reached the API since its start neither ends a pod whose manifest is
// removed nor starts its successor. If that pod is the API server, it never will. A restart after
// the pod has ended resolves this.
func (h *Host) endPods(ctx context.Context, components []string) (stuck bool, err error) {
	for _, component := range components {
		ignored, err := h.waitEnded(ctx, component)
		if err != nil {
			return false, err
		}
		stuck = stuck || ignored
	}
	return stuck, nil
}

// waitEnded waits until no container of a component runs and stops one that exceeds its grace
// period. ignored reports that the kubelet had not terminated it.
func (h *Host) waitEnded(ctx context.Context, component string) (ignored bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, terminationTimeout)
	defer cancel()
	start, late := time.Now(), false
	problem, err := poll(ctx, 200*time.Millisecond, func(ctx context.Context) (string, error) {
		if !late && time.Since(start) > gracePeriod[component] {
			late, ignored = true, h.notTerminating(ctx, component)
		}
		return h.stopProblem(ctx, component, late), nil
	})
	if err != nil {
		return ignored, node.ManualIntervention("PodNotTerminating", err,
			"Check why its container does not exit (`journalctl -u kubelet -u containerd`), then run `refit retry`",
			"the manifest of %s was removed, but the pod does not end: %s", component, problem)
	}
	return ignored, nil
}

// notTerminating reports whether a component has exceeded its grace period without being
// terminated. A terminating API server is not ready; the other components would have exited.
func (h *Host) notTerminating(ctx context.Context, component string) bool {
	if component != kubeadm.APIServer {
		return true
	}
	saved, err := h.saved()
	if err != nil {
		return false
	}
	text, err := saved.Read(manifest(component)) // the live manifest is removed
	if err != nil {
		return false
	}
	server, err := probeAPIServer(ctx, text)
	return err == nil && server.Ready
}

// stopProblem returns "" if no container of a component runs. With end set it stops one that does.
func (h *Host) stopProblem(ctx context.Context, component string, end bool) (problem string) {
	err := h.withCRI(func(client *cri.Client) error {
		containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Upgrade.NodeName, component)
		for _, c := range containers {
			if c.State != cri.StateRunning {
				continue
			}
			problem = "its container still runs"
			if end {
				h.Log.Info("stopping a container that exceeds its grace period", "container", component)
				if err := client.StopContainer(ctx, c.ID, stopTimeout[component]); err != nil {
					return err
				}
			}
		}
		return err
	})
	return cmp.Or(errorText(err), problem)
}

// awaitKubelet waits for the kubelet and the container runtime, for example after a reboot, before
// the timeout of a component starts. It returns no error: the checks that follow fail without them.
func (h *Host) awaitKubelet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, kubeletTimeout)
	defer cancel()
	_, _ = poll(ctx, time.Second, func(ctx context.Context) (string, error) {
		unit, err := h.Systemd.Unit(ctx, kubeletUnit)
		if err != nil || unit.Sub != "running" {
			h.ReportWait("waiting for the kubelet to start")
			return cmp.Or(errorText(err), "the kubelet does not run"), nil
		}
		err = h.withCRI(func(client *cri.Client) error {
			_, err := client.Version(ctx)
			return err
		})
		if err != nil {
			h.ReportWait("waiting for the container runtime")
			return errorText(err), nil
		}
		h.ReportWait("")
		return "", nil
	})
}
