package builder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/refit-dev/refit/test/testbed/progress"
)

// lockPoll is how often a waiting build looks whether the lock is free. Polling,
// because a blocking flock cannot be canceled.
const lockPoll = 200 * time.Millisecond

// lock takes the cache's build lock and writes our process id into it. If
// another build holds it, lock says so once and waits until ctx ends.
func (c cache) lock(ctx context.Context, report *progress.Reporter) (unlock func(), err error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the build lock: %w", err)
	}
	if err := waitForLock(ctx, file, report); err != nil {
		file.Close()
		return nil, err
	}
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0) // only for the sentence above
	}
	return func() { file.Close() }, nil
}

func waitForLock(ctx context.Context, file *os.File, report *progress.Reporter) error {
	for said := false; ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("taking the build lock: %w", err)
		}
		if !said {
			report.Say("waiting for another build (pid %s)", holder(file))
			said = true
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for another build: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// holder reads who holds the lock; a holder that has not written yet is unknown.
func holder(file *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return pid
	}
	return "unknown"
}
