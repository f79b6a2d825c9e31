package steps

import (
	"context"
	"os"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/cri"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// enoughCrashes is how often a new container may die before its proof is given up: the first death can be that of a dependency that was not there yet.
const enoughCrashes = 3

// watchCrashes looks beside a proof whether the component's containers die, so that nobody waits minutes for what cannot start. The returned function ends it.
func (h *Host) watchCrashes(ctx context.Context, component string, giveUp func()) func() *node.Failure {
	since := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan *node.Failure, 1)
	go func() {
		defer close(found)
		_, _ = until(ctx, time.Second, func(ctx context.Context) (string, error) {
			failure := h.crashed(ctx, component, since)
			if failure == nil {
				return "not crashed", nil
			}
			found <- failure
			giveUp()
			return "", nil
		})
	}()
	return func() *node.Failure {
		cancel()
		return <-found
	}
}

func (h *Host) crashed(ctx context.Context, component string, since time.Time) *node.Failure {
	var failure *node.Failure
	_ = h.withCRI(func(client *cri.Client) error {
		containers, err := h.containersOf(ctx, client, component)
		if err != nil {
			return err
		}
		var deaths int
		var last *cri.Container
		for i := range containers {
			// Attempt counts within one pod, whose older containers the kubelet removes meanwhile.
			if c := &containers[i]; c.State == cri.StateExited && c.ExitCode != 0 && c.Started.After(since) {
				deaths = max(deaths+1, int(c.Attempt)+1)
				if last == nil {
					last = c
				}
			}
		}
		if deaths >= enoughCrashes {
			failure = node.ManualIntervention("ContainerCrashes", nil, "read the log, mend the cause (flags, configuration), then refit retry",
				"%s ends again and again (exit code %d)", component, last.ExitCode)
			failure.LogTail = client.LogTail(ctx, *last, refitv1alpha1.MaxLogTail)
		}
		return nil
	})
	return failure
}

// containersOf are those of the static pod that the manifest on the disk names: one of another version, before or after it, says nothing about this one.
func (h *Host) containersOf(ctx context.Context, client *cri.Client, component string) ([]cri.Container, error) {
	text, err := os.ReadFile(manifest(component))
	if err != nil {
		return nil, err
	}
	want, err := kubeadm.Parse(text)
	if err != nil {
		return nil, err
	}
	image, err := client.Image(ctx, want.Image)
	if err != nil {
		return nil, err
	}
	containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Work.NodeName, component)
	return slices.DeleteFunc(containers, func(c cri.Container) bool { return c.Image != image.ID && c.Image != want.Image }), err
}

// logOf is the end of a component's log, for a failure that has no better words.
func (h *Host) logOf(component string) (tail string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = h.withCRI(func(client *cri.Client) error {
		containers, err := h.containersOf(ctx, client, component)
		if err == nil && len(containers) > 0 {
			tail = client.LogTail(ctx, containers[0], refitv1alpha1.MaxLogTail)
		}
		return err
	})
	return tail
}
