package builder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// A seeder is a containerd that runs in a root directory, without an init system.
type seeder struct {
	shop   *workshop
	leader int // process id of the container's first process
	kill   context.CancelFunc
	ended  chan struct{} // closed when it has ended
	err    error         // how it ended; set before ended is closed
}

// startSeeder starts containerd in a read-only root, and waits until it responds.
func startSeeder(ctx context.Context, shop *workshop, root string, binds []string) (*seeder, error) {
	ctx, kill := context.WithCancel(ctx)
	s := &seeder{shop: shop, ended: make(chan struct{}), kill: kill}
	binds = append(binds, "--read-only", "--tmpfs=/tmp", "--as-pid2", "--capability=all")
	daemon := inRoot(root, binds, "/usr/local/bin/containerd", "--config", "/usr/local/bin/config.toml")
	started := make(chan int, 1)
	daemon.started = func(pid int) { started <- pid }
	go func() {
		defer close(s.ended)
		s.err = shop.run(ctx, daemon)
	}()
	if err := s.waitUntilItAnswers(ctx, started); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

// abandon kills containerd and waits until nothing writes to its store.
func (s *seeder) abandon() {
	s.kill()
	<-s.ended
}

func (s *seeder) waitUntilItAnswers(ctx context.Context, started <-chan int) error {
	ctx, cancel := context.WithTimeout(ctx, machine.Timeout(seedTimeout))
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	enclosure := 0
	for {
		select {
		case enclosure = <-started:
		case <-s.ended:
			return fmt.Errorf("containerd exited before it responded: %w", s.err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for containerd: %w", ctx.Err())
		case <-tick.C:
			if s.leader = onlyChild(onlyChild(enclosure)); s.leader != 0 && s.responds(ctx) {
				return nil
			}
		}
	}
}

// responds checks containerd only if the socket exists: systemd-nspawn is still starting before.
func (s *seeder) responds(ctx context.Context) bool {
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/root/run/containerd/containerd.sock", s.leader)); err != nil {
		return false
	}
	return s.ctr(ctx, "version") == nil
}

// ctr runs ctr inside.
func (s *seeder) ctr(ctx context.Context, args ...string) error {
	argv := []string{"nsenter", "--target", strconv.Itoa(s.leader), "--all", "/usr/local/bin/ctr"}
	return s.shop.run(ctx, command{argv: append(argv, args...)})
}

// stop terminates containerd, so that it closes its databases, and waits.
func (s *seeder) stop(ctx context.Context) error {
	defer s.abandon()
	daemon := onlyChild(s.leader)
	if daemon == 0 {
		return errors.New("stopping containerd: it is not running")
	}
	if err := syscall.Kill(daemon, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping containerd: %w", err)
	}
	select {
	case <-s.ended:
		if s.err != nil {
			return fmt.Errorf("stopping containerd: %w", s.err)
		}
		return nil
	case <-time.After(machine.Timeout(seedTimeout)):
		return fmt.Errorf("stopping containerd: still running after %s", machine.Timeout(seedTimeout))
	case <-ctx.Done():
		return fmt.Errorf("stopping containerd: %w", ctx.Err())
	}
}

// onlyChild returns the single child of a process, or 0.
func onlyChild(pid int) int {
	if pid == 0 {
		return 0
	}
	var children []string
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			return 0
		}
		children = append(children, strings.Fields(string(text))...)
	}
	if len(children) != 1 {
		return 0
	}
	child, err := strconv.Atoi(children[0])
	if err != nil {
		return 0
	}
	return child
}
