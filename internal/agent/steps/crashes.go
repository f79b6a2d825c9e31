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

// crashLimit is the number of crashes after which a new container counts as failed. The first crash
// can be due to a dependency that was not ready.
const crashLimit = 3

// watchCrashes runs beside a health check and cancels it if the component keeps crashing, so that a
// component that cannot start fails before the timeout. The returned function stops the watch.
func (h *Host) watchCrashes(ctx context.Context, component string, cancelCheck func()) func() *node.Failure {
	since := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan *node.Failure, 1)
	go func() {
		defer close(found)
		_, _ = poll(ctx, time.Second, func(ctx context.Context) (string, error) {
			failure := h.crashed(ctx, component, since)
			if failure == nil {
				return "not crashed", nil
			}
			found <- failure
			cancelCheck()
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
		var crashes int
		var last *cri.Container
		for i := range containers {
			// The kubelet removes older containers of a pod, but Attempt keeps counting.
			if c := &containers[i]; c.State == cri.StateExited && c.ExitCode != 0 && c.Started.After(since) {
				crashes = max(crashes+1, int(c.Attempt)+1)
				if last == nil {
					last = c
				}
			}
		}
		if crashes >= crashLimit {
			failure = ContainerCrashes(component, last.ExitCode, client.LogTail(ctx, *last, refitv1alpha1.MaxLogTail))
		}
		return nil
	})
	return failure
}

// ContainerCrashes is the failure of a component that does not keep running.
func ContainerCrashes(component string, exitCode int32, log string) *node.Failure {
	failure := node.ManualIntervention("ContainerCrashes", nil, "Check the log, fix the cause (flags, configuration), then run `refit retry`",
		"%s keeps crashing (exit code %d)", component, exitCode)
	failure.LogTail = log
	return failure
}

// containersOf returns the containers of a static pod that run the image of the manifest on disk,
// and none of another version.
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
	containers, err := client.ContainersOfPod(ctx, "kube-system", component+"-"+h.Upgrade.NodeName, component)
	return slices.DeleteFunc(containers, func(c cri.Container) bool { return c.Image != image.ID && c.Image != want.Image }), err
}

// logOf returns the end of a component's log.
func (h *Host) logOf(component string) (tail string) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
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
