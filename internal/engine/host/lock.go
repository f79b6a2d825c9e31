package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// ErrLocked is returned by Lock if another process holds the lock.
var ErrLocked = errors.New("another process holds the lock")

// Locked is a lock that is held until Close or the end of the process.
type Locked struct{ file *os.File }

// Lock acquires the lock of the host or fails immediately. It keeps the file after the lock is
// released: removing it would let two processes hold locks of the same name.
func Lock(path string) (*Locked, error) {
	if err := durable.CheckPath(path); err != nil {
		return nil, err
	}
	// Go opens files with O_CLOEXEC, so that child processes do not inherit the lock.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, durable.Explain(err, "lock", path)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s%s", ErrLocked, path, holder(file))
		}
		return nil, durable.Explain(err, "lock", path)
	}
	// The process ID is informational, so a full disk is not an error.
	if file.Truncate(0) == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &Locked{file: file}, nil
}

func holder(file *os.File) string {
	text := make([]byte, 32)
	n, _ := file.ReadAt(text, 0)
	var pid int
	if _, err := fmt.Sscanf(string(text[:n]), "%d", &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// Close releases the lock.
func (l *Locked) Close() error { return l.file.Close() }
