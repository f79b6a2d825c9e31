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
	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// keepVariable is the environment variable that keeps the clusters of failed tests for inspection.
const keepVariable = "REFIT_TESTBED_KEEP"

// cleanupDeadline is the timeout for diagnosing and removing a cluster.
const cleanupDeadline = 3 * time.Minute

// New returns the testbed of this machine; it reports progress in the test's log. Tests that need
// their own cluster call Up.
func New(tb testing.TB) *cluster.Testbed {
	tb.Helper()
	report := progress.New(logWriter{tb})
	return cluster.New(cluster.StateDir, Builder(tb), report)
}

// Builder returns the builder of the user's cache.
func Builder(tb testing.TB) *builder.Builder {
	tb.Helper()
	if os.Getuid() != 0 {
		tb.Fatal("the testbed must run as root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Fatal(err)
	}
	return builder.New(filepath.Join(cache, "refit-testbed"), progress.New(logWriter{tb}))
}

// Up creates a cluster for the test and removes it when the test ends. If the test failed, the
// cluster is diagnosed in the log first, and kept with REFIT_TESTBED_KEEP=1. If the process of the
// test dies, prune removes the cluster.
func Up(tb testing.TB, spec cluster.Spec) *cluster.Cluster {
	tb.Helper()
	bed := New(tb)
	// A killed test may have left a cluster of the same name.
	if _, err := bed.Prune(tb.Context()); err != nil {
		tb.Fatalf("removing leftovers of killed tests: %v", err)
	}
	c, err := bed.Borrow(tb.Context(), spec, os.Getenv(keepVariable) != "")
	if c != nil {
		tb.Cleanup(func() { remove(tb, c) })
	}
	if err != nil {
		tb.Fatalf("creating cluster %s: %v", spec.Name, err)
	}
	return c
}

// remove removes the cluster of a test, unless the test removed it.
func remove(tb testing.TB, c *cluster.Cluster) {
	tb.Helper()
	// Cleanup runs after the test's context ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), machine.Timeout(cleanupDeadline))
	defer cancel()
	if c.Gone() {
		return
	}
	if tb.Failed() {
		c.Diagnose(ctx, logWriter{tb})
		if os.Getenv(keepVariable) != "" {
			tb.Logf("keeping cluster %s; to remove it, run: testbed down --name %s", c.Name(), c.Name())
			return
		}
	}
	if err := c.Down(ctx); err != nil {
		tb.Errorf("removing cluster %s: %v", c.Name(), err)
	}
}

type logWriter struct{ tb testing.TB }

func (w logWriter) Write(text []byte) (int, error) {
	w.tb.Helper()
	w.tb.Log(strings.TrimRight(string(text), "\n"))
	return len(text), nil
}
