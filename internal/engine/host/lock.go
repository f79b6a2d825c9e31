package host

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// ErrLocked is what Lock says when another process has the lock: do nothing to the host, and say so.
var ErrLocked = errors.New("another process holds the lock")

// Locked is a lock that is held. It ends with Close or with the process, never by itself.
type Locked struct{ file *os.File }

// Lock takes the host's lock, or fails at once. The file stays when the lock ends: to remove it would let two processes hold locks of one name.
func Lock(path string) (*Locked, error) {
	if err := durable.CheckPath(path); err != nil {
		return nil, err
	}
	// Go opens with O_CLOEXEC: a program that the agent starts must not keep the lock.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, durable.Explain(err, "locking", path)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s%s", ErrLocked, path, holder(file))
		}
		return nil, durable.Explain(err, "locking", path)
	}
	// The number is for people; a full disk does not matter.
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

// Close ends the lock.
func (l *Locked) Close() error { return l.file.Close() }
