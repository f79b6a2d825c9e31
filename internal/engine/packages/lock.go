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

// LockTimeout bounds the wait of one call for another package manager. Hold waits for longer.
const LockTimeout = time.Minute

// database is a dpkg database as this process uses it. The kernel's locks belong to the process and
// not to the caller, and end when the process closes any descriptor of the file.
type database struct {
	gate chan struct{} // admits one caller at a time
	held *os.File      // what Hold has locked, or nil; guarded by the gate
}

var databases sync.Map

// enter waits until no other caller of this process uses the database.
func (d deb) enter(ctx context.Context) (*database, error) {
	known, _ := databases.LoadOrStore(d.admin, &database{gate: make(chan struct{}, 1)})
	db := known.(*database) //nolint:errcheck,forcetypeassert // nothing else is stored
	select {
	case db.gate <- struct{}{}:
		return db, nil
	case <-ctx.Done():
		return nil, d.locked(ctx, os.Getpid())
	}
}

func (db *database) leave() { <-db.gate }

// lock locks the database for one call.
func (d deb) lock(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, d.lockTimeout)
	defer cancel()
	db, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	if db.held != nil {
		if err := d.awaitDpkg(ctx, func(string) {}); err != nil {
			db.leave()
			return nil, err
		}
		return db.leave, nil
	}
	file, err := d.acquire(ctx, func(string) {})
	if err != nil {
		db.leave()
		return nil, err
	}
	return func() {
		_ = file.Close()
		db.leave()
	}, nil
}

// Hold also keeps the lock of a call that follows: Install and Configure do not release it.
func (d deb) Hold(ctx context.Context, waiting func(reason string)) error {
	db, err := d.enter(ctx)
	if err != nil {
		return err
	}
	defer db.leave()
	if db.held == nil {
		db.held, err = d.acquire(ctx, waiting)
	}
	return err
}

// Release releases what Hold has locked.
func (d deb) Release() {
	db, err := d.enter(context.Background())
	if err != nil {
		return
	}
	defer db.leave()
	if db.held != nil {
		_ = db.held.Close()
		db.held = nil
	}
}

// acquire takes the lock that apt and unattended-upgrades take, and waits until no dpkg runs. The
// kernel releases the lock with the process, so a kill leaves none behind.
func (d deb) acquire(ctx context.Context, waiting func(string)) (*os.File, error) {
	// The mode is the one that dpkg uses.
	file, err := os.OpenFile(filepath.Join(d.admin, "lock-frontend"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of dpkg: %w", err)
	}
	err = d.wait(ctx, waiting, func() (int, error) { return take(file) })
	if err == nil {
		err = d.awaitDpkg(ctx, waiting)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// awaitDpkg waits until no dpkg runs: one that a killed agent started may still run.
func (d deb) awaitDpkg(ctx context.Context, waiting func(string)) error {
	return d.wait(ctx, waiting, func() (int, error) { return holder(filepath.Join(d.admin, "lock")) })
}

// wait tries until no process holds the lock.
func (d deb) wait(ctx context.Context, waiting func(string), try func() (pid int, err error)) error {
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		pid, err := try()
		if err != nil || pid == 0 {
			return err
		}
		waiting("waiting for " + process(pid) + " to release the lock of dpkg")
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

// process describes the holder of a lock.
func process(pid int) string {
	if pid <= 0 {
		return "another process"
	}
	who := fmt.Sprintf("process %d", pid)
	if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
		who += " (" + strings.TrimSpace(string(comm)) + ")"
	}
	return who
}

// locked is the failure of a wait for the lock. Nothing was changed, so it rolls nothing back.
func (d deb) locked(ctx context.Context, pid int) error {
	f := node.Transient("PackagesLocked", context.Cause(ctx),
		"Wait until it has ended; `fuser -v /var/lib/dpkg/lock-frontend` on the host shows it",
		"dpkg is locked by %s", process(pid))
	f.NoRollback = true
	return f
}
