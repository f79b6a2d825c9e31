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

// lockInterval is the time between two attempts: the kernel has no wait with a deadline for this
// kind of lock.
const lockInterval = 250 * time.Millisecond

// gates admit one caller of this process at a time per database: the kernel's locks belong to the
// process, not to the caller.
var gates sync.Map

// lock takes the lock that apt and unattended-upgrades take, and waits until no dpkg runs: one that
// a killed agent started may still run. The kernel releases the lock with the process, so a kill
// leaves none behind.
func (d deb) lock(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, d.lockTimeout)
	defer cancel()
	gate, _ := gates.LoadOrStore(d.admin, make(chan struct{}, 1))
	ours := gate.(chan struct{}) //nolint:errcheck,forcetypeassert // nothing else is stored
	select {
	case ours <- struct{}{}:
	case <-ctx.Done():
		return nil, d.locked(ctx, os.Getpid())
	}
	// The mode is the one that dpkg uses.
	f, err := os.OpenFile(filepath.Join(d.admin, "lock-frontend"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		<-ours
		return nil, fmt.Errorf("cannot open the lock of dpkg: %w", err)
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

// wait tries until no process holds the lock.
func (d deb) wait(ctx context.Context, try func() (pid int, err error)) error {
	tick := time.NewTicker(lockInterval)
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

// take takes a lock, or returns the process that holds it.
func take(f *os.File) (pid int, err error) {
	want := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &want)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		return 0, fmt.Errorf("cannot lock %s: %w", f.Name(), err)
	}
	return heldBy(f)
}

// holder returns the process that holds a lock, and 0 if none does.
func holder(path string) (pid int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot open the lock of dpkg: %w", err)
	}
	defer func() { _ = f.Close() }()
	return heldBy(f)
}

func heldBy(f *os.File) (pid int, err error) {
	seen := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &seen); err != nil {
		return 0, fmt.Errorf("cannot read the lock %s: %w", f.Name(), err)
	}
	if seen.Type == unix.F_UNLCK {
		return 0, nil
	}
	if seen.Pid <= 0 { // in another PID namespace, or a lock of another kind
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
	return node.Transient("PackagesLocked", context.Cause(ctx),
		"wait until it has ended; `fuser -v /var/lib/dpkg/lock-frontend` on the host shows it",
		"dpkg is locked by %s", who)
}
