package steps

import (
	"cmp"
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// settled is how long the kubelet needs after a container's end until the pod has ended for it, too. A manifest that comes earlier works as well, but is looked
// at again only 10 to 15 s later.
const settled = 1500 * time.Millisecond

// grace is how long a component may take to end before it is ended. An API server that was told to end refuses new requests at once and answers those that
// run; then it waits for watches, which do not end, until the kubelet kills it after 30 s in which nobody answers.
var grace = map[string]time.Duration{
	kubeadm.APIServer: 5 * time.Second, kubeadm.Etcd: 20 * time.Second, kubeadm.ControllerManager: 20 * time.Second, kubeadm.Scheduler: 20 * time.Second,
}

// patienceOf is how long a container that lingers may take to end when it is told to. An API server was told before, mostly.
var patienceOf = map[string]time.Duration{kubeadm.Etcd: 10 * time.Second, kubeadm.ControllerManager: 5 * time.Second, kubeadm.Scheduler: 5 * time.Second}

// awaitStopped waits until no container of the components runs, whose manifests are gone.
func (h *Host) awaitStopped(ctx context.Context, components []string) error {
	stuck, err := h.endPods(ctx, components)
	if err != nil {
		return err
	}
	if stuck {
		h.Log.Warn("restarting the kubelet, which does not stop static pods", "pods", components)
		return h.restartKubelet(ctx)
	}
	select {
	case <-ctx.Done():
	case <-time.After(settled):
	}
	return ctx.Err()
}

// prepareSwap checks the images again just before the swap: no pod is stopped for an image that the
// runtime has removed since.
func (h *Host) prepareSwap(ctx context.Context) error {
	h.awaitKubelet(ctx)
	return checkImages(ctx, h)
}

// endPods waits until the kubelet has ended static pods whose manifests are gone, and says whether it did not.
//
// A kubelet that has not heard from the API since its start, as after a boot, ends no pod whose manifest is gone, and starts no other in its place. Where the
// API goes with that pod it never would. One that is started after the pod has ended knows nothing of it.
func (h *Host) endPods(ctx context.Context, components []string) (stuck bool, err error) {
	for _, component := range components {
		kept, err := h.waitEnded(ctx, component)
		if err != nil {
			return false, err
		}
		stuck = stuck || kept
	}
	return stuck, nil
}

// waitEnded waits until no container of a component runs. One that lingers is ended; kept says that the kubelet had not told it to.
func (h *Host) waitEnded(ctx context.Context, component string) (kept bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	begun, late := time.Now(), false
	lacking, err := until(ctx, 200*time.Millisecond, func(ctx context.Context) (string, error) {
		if !late && time.Since(begun) > grace[component] {
			late, kept = true, h.toldNothing(ctx, component)
		}
		return h.stillRuns(ctx, component, late), nil
	})
	if err != nil {
		return kept, node.ManualIntervention("PodStays", err, "see why its container does not end (journalctl -u kubelet -u containerd), then refit retry",
			"%s was taken away and does not end: %s", component, lacking)
	}
	return kept, nil
}

// toldNothing says whether a component that lingers was not told to end. An API server that was is no longer ready; the others would have ended by then.
func (h *Host) toldNothing(ctx context.Context, component string) bool {
	if component != kubeadm.APIServer {
		return true
	}
	saved, err := h.saved()
	if err != nil {
		return false
	}
	text, err := saved.Read(manifest(component)) // which is not in its place
	if err != nil {
		return false
	}
	server, err := askAPIServer(ctx, text)
	return err == nil && server.Ready
}

// stillRuns says what is lacking until no container of a component runs, and ends it if it shall not linger.
func (h *Host) stillRuns(ctx context.Context, component string, end bool) (lacking string) {
	err := h.withCRI(func(client *cri.Client) error {
		containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Work.NodeName, component)
		for _, c := range containers {
			if c.State != cri.StateRunning {
				continue
			}
			lacking = "its container still runs"
			if end {
				h.Log.Info("a container lingers and is ended", "container", component)
				if err := client.StopContainer(ctx, c.ID, patienceOf[component]); err != nil {
					return err
				}
			}
		}
		return err
	})
	return cmp.Or(says(err), lacking)
}

// awaitKubelet waits until the kubelet runs and the container runtime answers, as after a reboot, before anybody's patience is measured. If they do not come,
// what follows says so.
func (h *Host) awaitKubelet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	_, _ = until(ctx, time.Second, func(ctx context.Context) (string, error) {
		unit, err := h.Systemd.Unit(ctx, kubeletUnit)
		if err != nil || unit.Sub != "running" {
			h.Say("waiting for the kubelet to run")
			return cmp.Or(says(err), "the kubelet does not run"), nil
		}
		err = h.withCRI(func(client *cri.Client) error {
			_, err := client.Version(ctx)
			return err
		})
		if err != nil {
			h.Say("waiting for the container runtime")
			return says(err), nil
		}
		h.Say("")
		return "", nil
	})
}
