package steps

import (
	"context"
	"errors"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// staticPod is the manifest of a component, with the digests of its old and its new content.
type staticPod struct {
	component, path, was, will string
	// forwardOnly is set if the new component has run on its data, so the old one must not start.
	forwardOnly bool
	// beforeStop checks right before the pod stops that it may; nil if nothing has to be checked.
	beforeStop func(context.Context) error
}

func (p staticPod) state() (host.SwapState, error) { return host.SwapStateOf(p.path, p.was, p.will) }

// podHost runs static pods.
type podHost interface {
	// prepareSwap waits until the kubelet and the container runtime can replace a pod.
	prepareSwap(ctx context.Context) error
	// awaitStopped waits until no container of the components runs. Their manifests are removed.
	awaitStopped(ctx context.Context, components []string) error
}

// staticPods stops, swaps and restores static pods through their manifests.
type staticPods struct {
	host   podHost
	effect func(name string, change func() error) error
}

// stop removes the manifests of pods that will change, and waits until their containers have ended.
func (s staticPods) stop(ctx context.Context, pods ...staticPod) error {
	if err := s.host.prepareSwap(ctx); err != nil {
		return err
	}
	var stopped []string
	for _, pod := range pods {
		state, err := pod.state()
		switch {
		case err != nil:
			return err
		case state == host.New: // also if old and new are the same
			continue
		}
		if pod.beforeStop != nil {
			if err := pod.beforeStop(ctx); err != nil {
				return err
			}
		}
		if err := s.effect("remove-"+pod.component, func() error { return host.MoveAside(pod.path, pod.was) }); err != nil {
			return err
		}
		stopped = append(stopped, pod.component)
	}
	if len(stopped) == 0 {
		return nil
	}
	return s.host.awaitStopped(ctx, stopped)
}

// swap stops the old pods before it writes the new manifests: the kubelet takes longer to restart a
// pod whose manifest is replaced in one step. If swap fails, it leaves no manifest removed.
func (s staticPods) swap(ctx context.Context, pods ...staticPod) error {
	err := s.stop(ctx, pods...)
	for _, pod := range pods {
		if err == nil {
			err = s.effect("swap-"+pod.component, func() error { return host.Swap(pod.path, pod.was, pod.will) })
		}
	}
	if err != nil {
		return errors.Join(err, s.restore(pods...))
	}
	return nil
}

// restoreInterrupted restores the manifests that a step removed before it was interrupted.
func (s staticPods) restoreInterrupted(pods ...staticPod) error {
	var all error
	for _, pod := range pods {
		switch {
		case !host.Interrupted(pod.path):
			all = errors.Join(all, host.RestoreMoved(pod.path)) // its record may be left
		case !pod.forwardOnly:
			all = errors.Join(all, s.restore(pod))
		}
	}
	return all
}

// restore restores the manifests that stop removed and swap has not replaced.
func (s staticPods) restore(pods ...staticPod) error {
	var all error
	for _, pod := range pods {
		state, err := pod.state()
		if err == nil && state == host.Absent && pod.was != "" && !pod.forwardOnly {
			err = s.effect("restore-"+pod.component, func() error { return host.UndoSwap(pod.path, pod.was, pod.will) })
		}
		all = errors.Join(all, err)
	}
	return all
}

func (h *Host) staticPods() staticPods { return staticPods{host: h, effect: h.Effect} }

func (h *Host) staticPod(component string) (staticPod, error) {
	was, will, err := h.manifestDigests(component)
	return staticPod{
		component: component, path: manifest(component), was: was, will: will,
		forwardOnly: component == kubeadm.Etcd && exists(h.path(etcdVersionFile)),
	}, err
}

func (h *Host) swapPods(ctx context.Context, components ...string) error {
	var pods []staticPod
	for _, component := range components {
		pod, err := h.staticPod(component)
		if err != nil {
			return err
		}
		pods = append(pods, pod)
	}
	if err := h.staticPods().swap(ctx, pods...); err != nil {
		return err
	}
	for _, pod := range pods {
		h.logLost(pod.path)
	}
	return nil
}
