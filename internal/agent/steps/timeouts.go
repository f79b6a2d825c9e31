package steps

import (
	"time"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Bounds of waits inside of steps. timeouts_test.go has the table of all of them: each ends before
// its step, so that the step reports what it waited for and not that it took too long.
const (
	// kubeletTimeout is how long the kubelet and the container runtime may take to start.
	kubeletTimeout = 3 * time.Minute
	// terminationTimeout is how long a static pod may take to end.
	terminationTimeout = time.Minute
	// restartTimeout is how long the kubelet may take to start a container that was stopped. It
	// waits longer for one that has crashed before.
	restartTimeout = 2 * time.Minute
	// othersTimeout is how long the other etcd members may take to become healthy.
	othersTimeout = 5 * time.Minute
	// imageTimeout is how long an imported image may take to appear in the CRI.
	imageTimeout = 15 * time.Second
	// requestTimeout bounds one request to a component.
	requestTimeout = 5 * time.Second
)

// Limit returns the timeout of a step. A host whose components may take longer than by default has
// a longer one, so that the health check of a component always ends before its step.
func Limit(step node.Step, s settings.Settings) time.Duration {
	return step.Limit + excess(step.Name, s)
}

// UndoLimit returns the timeout for the undo of a step.
func UndoLimit(step node.Step, s settings.Settings) time.Duration {
	return node.UndoLimit + excess(step.Name, s)
}

// excess is how much longer than by default the health checks of a step may take.
func excess(step string, s settings.Settings) time.Duration {
	checks := healthChecks[step]
	if checks == nil {
		return 0
	}
	var more time.Duration
	usual := checks(settings.Default().Timeouts)
	for i, timeout := range checks(s.Timeouts) {
		more += max(0, timeout.Duration()-usual[i].Duration())
	}
	return more
}

// healthChecks are the timeouts of the components whose health a step checks.
var healthChecks = map[string]func(settings.Timeouts) []settings.Seconds{
	node.StepEtcd:        func(t settings.Timeouts) []settings.Seconds { return []settings.Seconds{t.Etcd} },
	node.StepAPIServer:   func(t settings.Timeouts) []settings.Seconds { return []settings.Seconds{t.APIServer} },
	node.StepControllers: func(t settings.Timeouts) []settings.Seconds { return []settings.Seconds{t.Controllers} },
	node.StepContainerd:  func(t settings.Timeouts) []settings.Seconds { return []settings.Seconds{t.Containerd, t.Etcd} },
	node.StepKubelet:     func(t settings.Timeouts) []settings.Seconds { return []settings.Seconds{t.Kubelet, t.Etcd} },
	node.StepVerify:      wholeHost,
	node.StepVerifyOld:   wholeHost,
}

func wholeHost(t settings.Timeouts) []settings.Seconds {
	return []settings.Seconds{t.APIServer, t.Controllers, t.Kubelet}
}
