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
func TestSecondAgentDoesNotGetTheLock(t *testing.T) {
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

func TestProgramThatTheAgentStartedDoesNotKeepTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(path)
	must(t, err)
	// The child outlives Run: in its own process group, it keeps everything that it inherited.
	out, err := Run(t.Context(), nil, "sh", "-c", "setsid sleep 5 >/dev/null 2>&1 & ls -l /proc/$!/fd")
	must(t, err)
	if strings.Contains(out.Stdout, path) {
		t.Errorf("inherited: %s", out.Stdout)
	}
	must(t, first.Close())
	second, err := Lock(path)
	must(t, err)
	must(t, second.Close())
}
