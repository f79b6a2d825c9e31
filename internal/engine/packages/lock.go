package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// lockPoll is how often a lock is tried. The kernel has no wait with a deadline for this kind.
const lockPoll = 250 * time.Millisecond

// gates let one caller of this process in at a time, for each database: the kernel's locks do not tell callers of one process apart.
var gates sync.Map

// lock takes the lock that apt and unattended-upgrades take too, and waits until no dpkg is at work: one that a killed agent had started may still run.
// It dies with the process, so none is ever left behind.
func (d deb) lock(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, d.lockWait)
	defer cancel()
	gate, _ := gates.LoadOrStore(d.admin, make(chan struct{}, 1))
	ours := gate.(chan struct{}) //nolint:errcheck,forcetypeassert // Nothing else is stored.
	select {
	case ours <- struct{}{}:
	case <-ctx.Done():
		return nil, d.locked(ctx, os.Getpid())
	}
	f, err := os.OpenFile(filepath.Join(d.admin, "lock-frontend"), os.O_RDWR|os.O_CREATE, 0o640) // The mode that dpkg gives it.
	if err != nil {
		<-ours
		return nil, fmt.Errorf("opening dpkg's lock: %w", err)
	}
	release = func() {
		_ = f.Close()
		<-ours
	}
	if err := d.wait(ctx, func() (int, error) { return take(f) }); err != nil {
		release()
		return nil, err
	}
	if err := d.wait(ctx, func() (int, error) { return holder(filepath.Join(d.admin, "lock")) }); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// wait tries until nobody is in the way.
func (d deb) wait(ctx context.Context, try func() (pid int, err error)) error {
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		pid, err := try()
		if err != nil || pid == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return d.locked(ctx, pid)
		}
	}
}

// take takes a lock, or says who has it.
func take(f *os.File) (pid int, err error) {
	want := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &want)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		return 0, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return asked(f)
}

// holder is the process that has a lock; 0 when none has.
func holder(path string) (pid int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("opening dpkg's lock: %w", err)
	}
	defer func() { _ = f.Close() }()
	return asked(f)
}

func asked(f *os.File) (pid int, err error) {
	seen := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &seen); err != nil {
		return 0, fmt.Errorf("asking for the lock %s: %w", f.Name(), err)
	}
	if seen.Type == unix.F_UNLCK {
		return 0, nil
	}
	if seen.Pid <= 0 { // A process of another PID namespace, or one that locks in another way.
		return -1, nil
	}
	return int(seen.Pid), nil
}

func (d deb) locked(ctx context.Context, pid int) error {
	who := "another process"
	if pid > 0 {
		who = fmt.Sprintf("process %d", pid)
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			who += " (" + strings.TrimSpace(string(comm)) + ")"
		}
	}
	return node.Transient("PackagesLocked", context.Cause(ctx), "wait until it has ended, or see what keeps it on the host",
		"dpkg is locked by %s", who)
}
