package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func (d deb) guard() guard {
	return guard{
		manager: "dpkg", key: d.admin, timeout: d.lockTimeout, take: d.acquire, settle: d.awaitDpkg, locked: d.locked,
	}
}

// lock locks the database for one call.
func (d deb) lock(ctx context.Context) (release func(), err error) {
	_, release, err = d.guard().lock(ctx)
	return release, err
}

// Hold also keeps the lock of a call that follows: Install and Configure do not release it.
func (d deb) Hold(ctx context.Context, waiting func(reason string)) error {
	return d.guard().hold(ctx, waiting)
}

// Release releases what Hold has locked.
func (d deb) Release() { d.guard().release() }

// acquire takes the lock that apt and unattended-upgrades take, and waits until no dpkg runs. The
// kernel releases the lock with the process, so a kill leaves none behind.
func (d deb) acquire(ctx context.Context, waiting func(string)) (*heldLock, error) {
	// The mode is the one that dpkg uses.
	file, err := os.OpenFile(filepath.Join(d.admin, "lock-frontend"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of dpkg: %w", err)
	}
	err = d.guard().wait(ctx, waiting, func() (int, error) { return take(file, ofProcess) })
	if err == nil {
		err = d.awaitDpkg(ctx, waiting)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &heldLock{file: file, release: func() { _ = file.Close() }}, nil
}

// awaitDpkg waits until no dpkg runs: one that a killed agent started may still run.
func (d deb) awaitDpkg(ctx context.Context, waiting func(string)) error {
	return d.guard().wait(ctx, waiting, func() (int, error) { return holder(filepath.Join(d.admin, "lock")) })
}

func (d deb) locked(ctx context.Context, pid int) error {
	f := node.Transient("PackagesLocked", context.Cause(ctx),
		"Wait until it has ended; `fuser -v /var/lib/dpkg/lock-frontend` on the host shows it",
		"dpkg is locked by %s", process(pid))
	f.NoRollback = true
	return f
}

// lockKind is a kind of the kernel's locks: the commands that take one and that read who holds it.
type lockKind struct{ set, get int }

var (
	ofProcess = lockKind{unix.F_SETLK, unix.F_GETLK}
	// A lock of the open file also belongs to the child processes that inherit the file.
	ofFile = lockKind{unix.F_OFD_SETLK, unix.F_OFD_GETLK}
)

// take takes a lock, or returns the process that holds it.
func take(f *os.File, kind lockKind) (pid int, err error) {
	want := unix.Flock_t{Type: unix.F_WRLCK}
	err = unix.FcntlFlock(f.Fd(), kind.set, &want)
	if err == nil {
		return 0, nil
	}
	if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		return 0, fmt.Errorf("cannot lock %s: %w", f.Name(), err)
	}
	return heldBy(f, kind)
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
	return heldBy(f, ofProcess)
}

func heldBy(f *os.File, kind lockKind) (pid int, err error) {
	seen := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), kind.get, &seen); err != nil {
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
