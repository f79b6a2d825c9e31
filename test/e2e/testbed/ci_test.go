//go:build e2e

package testbed

import (
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestCI is the gate for every change: a small cluster starts, works, loses its worker to a power
// cut, recovers it and works again.
func TestCI(t *testing.T) {
	c, seconds := timedUp(t, cluster.Spec{Name: "ci", Workers: 1, Kubernetes: older})
	show(t, "up_1_1_warm", seconds, "s")
	must(t, c.Smoke(t.Context()))

	worker := c.OfRole(cluster.RoleWorker)[0]
	must(t, worker.Kill(t.Context()))
	if state := worker.State(); state != "off" {
		t.Fatalf("after a power cut the worker is %s", state)
	}
	must(t, worker.Start(t.Context()))
	must(t, c.WaitRecovered(t.Context(), recovery))
	must(t, c.Smoke(t.Context()))
	must(t, c.Down(t.Context()))
}
