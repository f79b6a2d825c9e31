//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// process is a controller process in the cluster, with its PID inside the node.
type process struct {
	n        *cluster.Node
	pid, pod string
}

// controllers lists the controllers that run in the cluster. It queries the nodes because the API
// may be unreachable.
func (s *site) controllers(ctx context.Context) ([]process, error) {
	var found []process
	for _, n := range s.Nodes() {
		out, err := n.Exec(ctx, "pidof", "refit-controller")
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 1 {
			continue // none on this node
		}
		if err != nil {
			return nil, err
		}
		for pid := range strings.FieldsSeq(string(out)) {
			environ, err := bed.ReadOn(ctx, n, "/proc/"+pid+"/environ")
			if err != nil {
				continue // the process has just ended
			}
			for variable := range strings.SplitSeq(environ, "\x00") {
				if pod, ok := strings.CutPrefix(variable, "HOSTNAME="); ok {
					found = append(found, process{n: n, pid: pid, pod: pod})
				}
			}
		}
	}
	return found, nil
}

func (p process) signal(ctx context.Context, name string) error {
	_, err := p.n.Exec(ctx, "kill", "-"+name, p.pid)
	return err
}

// leader returns the controller that holds the Lease.
func (s *site) leader(ctx context.Context) (process, error) {
	holder, err := s.holder(ctx)
	if err != nil {
		return process{}, err
	}
	all, err := s.controllers(ctx)
	for _, p := range all {
		if strings.HasPrefix(holder, p.pod+"_") {
			return p, nil
		}
	}
	return process{}, errors.Join(err, fmt.Errorf("the Lease is held by %q, which does not run", holder))
}

// holder returns the holder of the controllers' Lease.
func (s *site) holder(ctx context.Context) (string, error) {
	ctx, cancel := soon(ctx)
	defer cancel()
	lease, err := s.Client.CoordinationV1().Leases("refit-system").Get(ctx, "refit-controller", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", errors.Join(err, errors.New("nobody leads"))
	}
	return *lease.Spec.HolderIdentity, nil
}

// killControllers kills a random number of controllers in the cluster, at least one, and returns
// how many.
func (s *site) killControllers(ctx context.Context) (int, error) {
	all, err := s.controllers(ctx)
	if err != nil {
		return 0, err
	}
	killed := 0
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, p := range all {
		if i > 0 && rand.IntN(2) == 0 {
			continue
		}
		if p.signal(ctx, "KILL") != nil {
			continue // it ended by itself
		}
		killed++
		s.replace(ctx, p)
	}
	return killed, nil
}

// replace deletes the Pod of a killed process so that a new one is created: the kubelet would back
// off longer before each restart. Errors are ignored because the API may be unreachable.
func (s *site) replace(ctx context.Context, p process) {
	ctx, cancel := soon(ctx)
	defer cancel()
	now := int64(0)
	_ = s.Client.CoreV1().Pods("refit-system").Delete(ctx, p.pod, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// killing kills controllers repeatedly.
type killing struct {
	stop  context.CancelFunc
	ended chan struct{}
	kills int
}

// kills kills controllers in the cluster up to this many times, at random intervals of up to most,
// until it is stopped.
func (s *site) kills(t *testing.T, times int, most time.Duration) *killing {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	k := &killing{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		for k.kills < times {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rand.N(most)):
			}
			killed, err := s.killControllers(ctx)
			if err != nil && ctx.Err() == nil {
				t.Logf("nobody was killed: %v", err)
			}
			if killed > 0 {
				k.kills++
			}
		}
	}()
	return k
}

// count stops the kills and returns their number.
func (k *killing) count() int {
	k.stop()
	<-k.ended
	return k.kills
}
