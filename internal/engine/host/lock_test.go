package host

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// F32: a second agent does not start.
func TestSecondAgentIsRefusedTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(path)
	must(t, err)
	_, err = Lock(path)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Fatalf("got %v", err)
	}
	must(t, first.Close())
	second, err := Lock(path)
	must(t, err)
	must(t, second.Close())
}

func TestChildProcessDoesNotKeepTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(path)
	must(t, err)
	// The child outlives Run: it keeps every descriptor that it inherited, and with it the lock.
	_, err = Run(t.Context(), nil, "sh", "-c", "setsid sleep 5 >/dev/null 2>&1 &")
	must(t, err)
	must(t, first.Close())
	second, err := Lock(path)
	must(t, err)
	must(t, second.Close())
}
