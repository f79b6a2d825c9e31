package steps

import (
	"cmp"
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// settled is how long the kubelet needs after a container's end until the pod has ended for it, too. A manifest that comes earlier works as well, but is looked
// at again only 10 to 15 s later.
const settled = 1500 * time.Millisecond

// grace is how long a component may take to end before its container is killed. An API server that was told to end refuses new requests at once and answers
// those that run; then it waits for watches, which do not end, until the kubelet kills it after 30 s in which nobody answers.
var grace = map[string]time.Duration{kubeadm.APIServer: 5 * time.Second}

// swapPods replaces static pods: old manifests away, old containers ended, new manifests in place. A manifest that was replaced in one go would be quicker
// written and later started.
func (h *Host) swapPods(ctx context.Context, components ...string) error {
	if err := h.takePodsAway(ctx, components...); err != nil {
		return err
	}
	for _, component := range components {
		was, will, err := h.manifestDigests(component)
		if err != nil {
			return err
		}
		if err := h.Effect("swap-"+component, func() error { return host.Swap(manifest(component), was, will) }); err != nil {
			return err
		}
	}
	return nil
}

// takePodsAway ends static pods whose manifests will change.
func (h *Host) takePodsAway(ctx context.Context, components ...string) error {
	h.awaitKubelet(ctx)
	if err := checkImages(ctx, h); err != nil { // once more: nothing is taken away for an image that is gone
		return err
	}
	var away []string
	for _, component := range components {
		was, will, err := h.manifestDigests(component)
		if err != nil {
			return err
		}
		state, err := host.SwapStateOf(manifest(component), was, will)
		switch {
		case err != nil:
			return err
		case state == host.New: // also where nothing changes
			continue
		}
		if err := h.Effect("take-"+component, func() error { return host.TakeAway(manifest(component), was) }); err != nil {
			return err
		}
		away = append(away, component)
	}
	if len(away) == 0 {
		return nil
	}
	for _, component := range away {
		if err := h.waitEnded(ctx, component); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(settled):
	}
	return ctx.Err()
}

func (h *Host) waitEnded(ctx context.Context, component string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	begun := time.Now()
	lacking, err := until(ctx, 200*time.Millisecond, func(ctx context.Context) (string, error) {
		limit, hurried := grace[component]
		return h.stillRuns(ctx, component, hurried && time.Since(begun) > limit), nil
	})
	if err != nil {
		return node.NeedsPerson("PodStays", err, "see why the kubelet does not stop it (journalctl -u kubelet), then refit retry",
			"%s was taken away and does not end: %s", component, lacking)
	}
	return nil
}

// stillRuns says what is lacking until no container of a component runs, and kills it if it shall not linger.
func (h *Host) stillRuns(ctx context.Context, component string, kill bool) (lacking string) {
	err := h.withCRI(func(client *cri.Client) error {
		containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Work.NodeName, component)
		for _, c := range containers {
			if c.State != cri.StateRunning {
				continue
			}
			lacking = "its container still runs"
			if kill {
				h.Log.Info("a container lingers and is killed", "container", component)
				if err := client.StopContainer(ctx, c.ID, 0); err != nil {
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
