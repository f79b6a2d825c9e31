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

// process is a controller in the cluster, as its node sees it.
type process struct {
	n        *cluster.Node
	pid, pod string
}

// controllers lists the controllers that run in the cluster. The nodes are asked and not the API, which may be away.
func (s *site) controllers(ctx context.Context) ([]process, error) {
	var found []process
	for _, n := range s.Nodes() {
		out, err := n.Exec(ctx, "pidof", "refit-controller")
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 1 {
			continue // none there
		}
		if err != nil {
			return nil, err
		}
		for pid := range strings.FieldsSeq(string(out)) {
			environ, err := bed.ReadOn(ctx, n, "/proc/"+pid+"/environ")
			if err != nil {
				continue // it has just ended
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

// leader is the controller that holds the Lease.
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

// holder is whose the controllers' Lease is.
func (s *site) holder(ctx context.Context) (string, error) {
	ctx, cancel := soon(ctx)
	defer cancel()
	lease, err := s.Client.CoordinationV1().Leases("refit-system").Get(ctx, "refit-controller", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", errors.Join(err, errors.New("nobody leads"))
	}
	return *lease.Spec.HolderIdentity, nil
}

// killControllers kills some of the controllers in the cluster, at least one, and returns how many.
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

// replace lets a new Pod come for one whose process was killed: the kubelet would wait longer each time before it starts it again. While the API is away it
// may.
func (s *site) replace(ctx context.Context, p process) {
	ctx, cancel := soon(ctx)
	defer cancel()
	now := int64(0)
	_ = s.Client.CoreV1().Pods("refit-system").Delete(ctx, p.pod, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// killing kills controllers again and again.
type killing struct {
	stop  context.CancelFunc
	ended chan struct{}
	kills int
}

// kills kills controllers in the cluster so many times at most, with a random time of up to most in between, until it is stopped.
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

// count stops, and returns how many times something was killed.
func (k *killing) count() int {
	k.stop()
	<-k.ended
	return k.kills
}
