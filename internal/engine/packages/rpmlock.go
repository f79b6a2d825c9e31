package packages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// childLock is the lock of the rpm processes that Refit starts.
const childLock = "/run/refit-rpm.lock"

// dnfState is the directory in which dnf 4 has its lock.
const dnfState = "/var/lib/dnf"

func (r rpm) guard() guard {
	return guard{
		manager: "rpm", key: "rpm:" + r.root, timeout: r.lockTimeout, take: r.acquire, locked: r.locked,
		// rpm inherits the lock, so that no process is left once it is free.
		settle: func(context.Context, func(string)) error { return nil },
	}
}

// Hold also keeps the lock of a call that follows: Install and Configure do not release it.
func (r rpm) Hold(ctx context.Context, waiting func(reason string)) error {
	return r.guard().hold(ctx, waiting)
}

// Release releases what Hold has locked.
func (r rpm) Release() { r.guard().release() }

// acquire takes the locks in dnf's order: that of dnf, which it has from resolving dependencies to
// the end of the transaction, and that of rpm, which every user of its library takes.
func (r rpm) acquire(ctx context.Context, waiting func(string)) (*heldLock, error) {
	leaveDnf, err := r.acquireDnf(ctx, waiting)
	if err != nil {
		return nil, err
	}
	file, err := r.acquireRpm(ctx, waiting)
	if err != nil {
		leaveDnf()
		return nil, err
	}
	return &heldLock{file: file, release: func() {
		_ = file.Close()
		leaveDnf()
	}}, nil
}

func (r rpm) acquireRpm(ctx context.Context, waiting func(string)) (*os.File, error) {
	out, err := r.query(ctx, "--eval", "%{_rpmlock_path}")
	if err != nil {
		return nil, wrap(err, "cannot find the lock of rpm")
	}
	path := r.onDisk(strings.TrimSpace(out))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // as rpm does
		return nil, fmt.Errorf("cannot open the lock of rpm: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) // the mode that rpm uses
	if err != nil {
		return nil, fmt.Errorf("cannot open the lock of rpm: %w", err)
	}
	if err := r.guard().wait(ctx, waiting, func() (int, error) { return take(file, ofFile) }); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// acquireDnf takes the lock of dnf 4, where dnf is installed.
func (r rpm) acquireDnf(ctx context.Context, waiting func(string)) (release func(), err error) {
	dir := r.onDisk(dnfState)
	if _, err := os.Stat(dir); err != nil {
		return func() {}, nil //nolint:nilerr // dnf creates it at its first start
	}
	path := filepath.Join(dir, "rpmdb_lock.pid")
	err = r.guard().wait(ctx, waiting, func() (int, error) { return takePid(path, os.Getpid()) })
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(path) }, nil
}

// takePid takes a lock of dnf, or returns the process that holds it. The file has the number of the
// holder, and survives it; a kernel lock protects reading and writing it.
func takePid(path string, own int) (holder int, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) // the mode that dnf uses
	if err != nil {
		return 0, fmt.Errorf("cannot open the lock of dnf: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return -1, nil
	} else if err != nil {
		return 0, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, 20))
	if err != nil {
		return 0, fmt.Errorf("cannot read the lock of dnf: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && pid == own {
		return 0, nil
	}
	if err == nil && pid > 0 {
		info, err := f.Stat()
		if err != nil {
			return 0, fmt.Errorf("cannot read the lock of dnf: %w", err)
		}
		if alive(pid, info.ModTime()) {
			return pid, nil
		}
	}
	if err := f.Truncate(0); err != nil {
		return 0, fmt.Errorf("cannot write the lock of dnf: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(own)), 0); err != nil {
		return 0, fmt.Errorf("cannot write the lock of dnf: %w", err)
	}
	return 0, nil
}

// alive reports whether the process that wrote its number to a file still runs. After a kill or a
// power cut the number can belong to a process that has nothing to do with packages: such a lock
// would never be released.
func alive(pid int, written time.Time) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	started, err := startOf(string(text))
	if err != nil || started.Before(written.Add(clockSlack)) {
		return true
	}
	// Later than the file, unless the clock was set since.
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err != nil || packageTools.Match(command)
}

// clockSlack is the resolution of the two times.
const clockSlack = time.Second

// packageTools are in the command lines of processes that take the lock of dnf.
var packageTools = regexp.MustCompile(`(?i)dnf|yum|packagekit`)

// startOf returns when a process started, from its line in /proc.
func startOf(stat string) (time.Time, error) {
	const (
		afterName   = 19 // the field starttime; names can have spaces
		ticksPerSec = 100
	)
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= afterName {
		return time.Time{}, fmt.Errorf("unexpected line %q", stat)
	}
	ticks, err := strconv.ParseInt(fields[afterName], 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	var uptime unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &uptime); err != nil {
		return time.Time{}, err
	}
	boot := time.Now().Add(-time.Duration(uptime.Nano()))
	return boot.Add(time.Duration(ticks) * time.Second / ticksPerSec), nil
}

func (r rpm) locked(ctx context.Context, pid int) error {
	f := node.Transient("PackagesLocked", context.Cause(ctx),
		"Wait until it has ended; `fuser -v $(rpm --eval '%{_rpmlock_path}')` on the host shows it, `cat /var/lib/dnf/rpmdb_lock.pid` a dnf",
		"rpm is locked by %s", process(pid))
	f.NoRollback = true
	return f
}
