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
func New(tb testing.TB) *cluster.Testbed {
	tb.Helper()
	report := progress.New(logWriter{tb})
	return cluster.New(cluster.StateDir, Builder(tb), report)
}

// Builder returns the builder of the user's cache.
func Builder(tb testing.TB) *builder.Builder {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Fatal("the testbed needs root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	return builder.New(filepath.Join(cache, "refit-testbed"), progress.New(logWriter{tb}))
}

// Up makes a cluster for the test and removes it when the test ends. If the test
// failed, what the cluster says is logged first, and with REFIT_TESTBED_KEEP=1 it stays.
// If the test's process dies, prune removes the cluster.
func Up(tb testing.TB, spec cluster.Spec) *cluster.Cluster {
	tb.Helper()
	bed := New(tb)
	// A test that was killed left its cluster, perhaps with the name that this one wants.
	if _, err := bed.Prune(tb.Context()); err != nil {
		tb.Fatalf("removing what killed tests left: %v", err)
	}
	c, err := bed.Borrow(tb.Context(), spec, os.Getenv(keepVariable) != "")
	if c != nil {
		tb.Cleanup(func() { remove(tb, c) })
	}
	if err != nil {
		tb.Fatalf("making cluster %s: %v", spec.Name, err)
	}
	return c
}

// remove takes a test's cluster away; the test may have done so itself.
func remove(tb testing.TB, c *cluster.Cluster) {
	tb.Helper()
	// Cleanup runs after the test's own context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), cleanupDeadline)
	defer cancel()
	if c.Gone() {
		return
	}
	if tb.Failed() {
		c.Diagnose(ctx, logWriter{tb})
		if os.Getenv(keepVariable) != "" {
			tb.Logf("cluster %s is kept; remove it with: testbed down --name %s", c.Name(), c.Name())
			return
		}
	}
	if err := c.Down(ctx); err != nil {
		tb.Errorf("removing cluster %s: %v", c.Name(), err)
	}
}

// logWriter writes lines to a test's log.
type logWriter struct{ tb testing.TB }

func (w logWriter) Write(text []byte) (int, error) {
	w.tb.Helper()
	w.tb.Log(strings.TrimRight(string(text), "\n"))
	return len(text), nil
}
