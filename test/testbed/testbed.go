package testbed

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// keepVariable keeps the clusters of failed tests, to look at them.
const keepVariable = "REFIT_TESTBED_KEEP"

// cleanupDeadline is for removing a cluster, and for asking a broken one what is wrong.
const cleanupDeadline = 3 * time.Minute

// New returns the machine's testbed; what it does is reported in the test's log.
// Tests that need a cluster of their own call Up.
func New(t testing.TB) *cluster.Testbed {
	t.Helper()
	report := progress.New(logWriter{t})
	return cluster.New(cluster.StateDir, Builder(t), report)
}

// Builder returns the builder of the user's cache.
func Builder(t testing.TB) *builder.Builder {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("the testbed needs root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return builder.New(filepath.Join(cache, "refit-testbed"), progress.New(logWriter{t}))
}

// Up makes a cluster for the test and removes it when the test ends. If the test
// failed, what the cluster says is logged first, and with REFIT_TESTBED_KEEP=1 it stays.
func Up(t testing.TB, spec cluster.Spec) *cluster.Cluster {
	t.Helper()
	bed := New(t)
	c, err := bed.Up(t.Context(), spec, false)
	if err != nil {
		t.Fatalf("making cluster %s: %v", spec.Name, err)
	}
	t.Cleanup(func() { remove(t, c) })
	return c
}

// remove takes a test's cluster away; the test may have done so itself.
func remove(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cleanupDeadline)
	defer cancel()
	if c.Gone() {
		return
	}
	if t.Failed() {
		c.Diagnose(ctx, logWriter{t})
		if os.Getenv(keepVariable) != "" {
			t.Logf("cluster %s is kept; remove it with: testbed down --name %s", c.Name(), c.Name())
			return
		}
	}
	if err := c.Down(ctx); err != nil {
		t.Errorf("removing cluster %s: %v", c.Name(), err)
	}
}

// logWriter writes lines to a test's log.
type logWriter struct{ t testing.TB }

func (w logWriter) Write(text []byte) (int, error) {
	w.t.Helper()
	w.t.Log(strings.TrimRight(string(text), "\n"))
	return len(text), nil
}
