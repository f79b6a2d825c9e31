//go:build e2e

package upgrade

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestUpgradeRequests upgrades several clusters in a row, and fails if one request to a Service
// behind a PodDisruptionBudget fails. REFIT_UPGRADES is the number of clusters.
func TestUpgradeRequests(t *testing.T) {
	loadMachine(t)
	for i := range bed.Count(t, "REFIT_UPGRADES", 3) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			s := newBareSite(t, cluster.Spec{Name: "requests", ControlPlanes: 3, Workers: 2, Kubernetes: older}, inCluster)
			s.Install(t)
			r := s.CreateRelease(t, newer)
			s.Measured(t, "requests_upgrade", newer)
			s.IsAt(t, r)
		})
	}
}

// loadMachine runs REFIT_LOAD processes that do nothing but use a CPU, until the test ends.
func loadMachine(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // Pdeathsig is the death of the thread that starts them
	for range bed.Count(t, "REFIT_LOAD", 0) {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		busy.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it must not outlive a killed test
		must(t, busy.Start())
		t.Cleanup(func() {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		})
	}
}
