package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is returned by TryLock when another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// LockPoll is the polling interval of a waiting process: a blocking flock cannot be canceled.
const LockPoll = 100 * time.Millisecond

// TryLock takes the lock file or returns ErrLocked immediately. The lock ends with the process.
func TryLock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, fmt.Errorf("locking %s: %w", file, err)
	}
	if !sameFile(f, file) {
		// The former holder removed the file: nobody else sees this lock.
		f.Close()
		return nil, ErrLocked
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // informs waiting processes
	}
	return func() { f.Close() }, nil
}

// sameFile reports whether path still refers to the open file.
func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}

// Lock waits for the lock until the context ends, and creates its directory: the last holder may
// remove both. When it has to wait, it calls waiting once with the process ID of the holder;
// waiting may be nil.
func Lock(ctx context.Context, file string, waiting func(pid string)) (unlock func(), err error) {
	for {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, fmt.Errorf("creating the directory of the lock: %w", err)
		}
		unlock, err := TryLock(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if !errors.Is(err, ErrLocked) {
			return unlock, err
		}
		if waiting != nil {
			waiting(lockHolder(file))
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", file, ctx.Err())
		case <-time.After(LockPoll):
		}
	}
}

// lockHolder returns the process ID of the holder, or "unknown" before it is written.
func lockHolder(file string) string {
	text, err := os.ReadFile(file)
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}
