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

// LockPoll is how often a waiting process looks whether the lock is free.
// Polling, because a blocking flock cannot be canceled.
const LockPoll = 100 * time.Millisecond

// TryLock takes the lock file or returns ErrLocked at once. The lock ends with
// the process, however that ends.
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
		// Whoever held it removed the file: we have locked what nobody else will see.
		f.Close()
		return nil, ErrLocked
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // only for those who wait
	}
	return func() { f.Close() }, nil
}

// sameFile tells whether the path still leads to the open file.
func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}

// Lock waits for the lock until the context ends, and makes its directory if that
// is not there: the last one to hold the lock may remove both. When it has to wait,
// it tells once whose process holds it; waiting may be nil.
func Lock(ctx context.Context, file string, waiting func(pid string)) (unlock func(), err error) {
	for {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, fmt.Errorf("making the lock's directory: %w", err)
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

// lockHolder reads who holds the lock; a holder that has not written yet is unknown.
func lockHolder(file string) string {
	text, err := os.ReadFile(file)
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}
