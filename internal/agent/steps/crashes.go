package steps

import (
	"context"
	"time"

	"github.com/refit-dev/refit/internal/engine/cri"
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
		containers, err := client.Containers(ctx, "kube-system", component)
		if err != nil {
			return err
		}
		deaths := 0
		for _, c := range containers {
			// Attempt counts within one pod, whose older containers the kubelet removes meanwhile.
			if c.State == cri.StateExited && c.ExitCode != 0 && c.Started.After(since) {
				deaths = max(deaths+1, int(c.Attempt)+1)
			}
		}
		if deaths >= enoughCrashes {
			failure = node.NeedsPerson("ContainerCrashes", nil, "read the log, mend the cause (flags, configuration), then refit retry",
				"%s of %s ends again and again (exit code %d)", component, h.Work.To, containers[0].ExitCode)
			failure.LogTail = client.LogTail(ctx, containers[0], 4096)
		}
		return nil
	})
	return failure
}

// logOf is the end of a component's log, for a failure that has no better words.
func (h *Host) logOf(component string) (tail string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = h.withCRI(func(client *cri.Client) error {
		containers, err := client.Containers(ctx, "kube-system", component)
		if err == nil && len(containers) > 0 {
			tail = client.LogTail(ctx, containers[0], 4096)
		}
		return err
	})
	return tail
}
