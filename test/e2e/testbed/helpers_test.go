//go:build e2e

package testbed

import (
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/figure"
)

// Versions that the tests upgrade between.
const (
	oldest = "v1.34.4"
	older  = "v1.35.4"
	newer  = "v1.36.3"
	newest = "v1.37.1"
)

// recovery limits the time until a cluster is ready again after a fault.
const recovery = 4 * time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until a condition holds, for at most three minutes: systemd alone may wait 90 s for
// Pods that do not terminate.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited for %s in vain", what)
		}
	}
}

func show(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(name, value, unit))
}

// warm builds the artifacts of a cluster, so that only its creation is timed.
func warm(t *testing.T, spec cluster.Spec) {
	t.Helper()
	spec.Default()
	_, err := testbed.Builder(t).NodeImage(t.Context(), spec.Image())
	must(t, err)
}

// timedUp creates a cluster from a warm cache and returns the duration in seconds.
func timedUp(t *testing.T, spec cluster.Spec) (*cluster.Cluster, float64) {
	t.Helper()
	warm(t, spec)
	begun := time.Now()
	c := testbed.Up(t, spec)
	return c, time.Since(begun).Seconds()
}
