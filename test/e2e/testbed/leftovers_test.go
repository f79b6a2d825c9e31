//go:build e2e

package testbed

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/machine"
)

const (
	cycles = 20
	kills  = 10
)

// watched are the directories in which a testbed could leave files.
var watched = []string{
	cluster.StateDir, "/run/systemd", "/run/netns", "/run/lock", "/run/mount",
	"/run/containerd", "/run/haproxy", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/etcd", "/etc/cni", "/etc/kubernetes",
}

func inventory(t *testing.T) machine.Inventory {
	t.Helper()
	taken, err := machine.TakeInventory(watched...)
	must(t, err)
	return taken
}

// nothingLeft compares with the inventory from before. The kernel removes dead namespaces and
// cgroups asynchronously, so leftovers may take a moment to go.
func nothingLeft(t *testing.T, before machine.Inventory) int {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		left := inventory(t).Since(before)
		if len(left) == 0 {
			return 0
		}
		if time.Now().After(until) {
			for _, line := range left {
				t.Errorf("left: %s", line)
			}
			return len(left)
		}
	}
}

// TestLeftoversOfCycles creates and removes clusters repeatedly. The first cycle may create files
// that the machine's own tools keep, such as systemd's directories.
func TestLeftoversOfCycles(t *testing.T) {
	spec := cluster.Spec{Name: "cycle", Workers: 1, Kubernetes: older}
	warm(t, spec)
	before := inventory(t)
	left := 0
	for i := range cycles {
		spec.Disk = 0
		if i%5 == 4 {
			spec.Disk = 6 << 30 // to cover loop devices too
		}
		begun := time.Now()
		c, err := testbed.New(t).Up(t.Context(), spec, false)
		must(t, err)
		must(t, c.Down(t.Context()))
		left += nothingLeft(t, before)
		t.Logf("cycle %d of %d took %.1f s", i+1, cycles, time.Since(begun).Seconds())
	}
	show(t, "leftover", float64(left), "things")
}

// TestLeftoversOfKilledRuns kills `testbed up` with SIGKILL at random times and prunes.
func TestLeftoversOfKilledRuns(t *testing.T) {
	spec := cluster.Spec{Name: "killed", ControlPlanes: 3, Workers: 2, Kubernetes: older}
	warm(t, spec)
	program := filepath.Join(t.TempDir(), "testbed")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../testbed/cmd/testbed")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before := inventory(t)
	begun := time.Now()
	must(t, up(t.Context(), program, 0, false))
	must(t, exec.CommandContext(t.Context(), program, "down", "--name", "killed").Run())
	whole := time.Since(begun)
	nothingLeft(t, before)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("a whole run takes %s; seed %d", whole, seed)
	left := 0
	for i := range kills {
		after := time.Duration(random.Int64N(int64(whole)))
		if err := up(t.Context(), program, after, i%3 == 2); err == nil {
			must(t, exec.CommandContext(t.Context(), program, "down", "--name", "killed").Run())
		}
		out, err := exec.CommandContext(t.Context(), program, "prune").CombinedOutput()
		if err != nil {
			t.Fatalf("prune: %v: %s", err, out)
		}
		left += nothingLeft(t, before)
		t.Logf("kill %d of %d, after %s: %s", i+1, kills, after, out)
	}
	show(t, "leftover_killed", float64(left), "things")
}

// up runs `testbed up` and kills it after this time, unless it is zero.
func up(ctx context.Context, program string, after time.Duration, disks bool) error {
	args := []string{"up", "--name", "killed", "--control-planes", "3", "--workers", "2", "--kubernetes", older}
	if disks {
		args = append(args, "--disk", "6G")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		defer timer.Stop()
	}
	return cmd.Wait()
}
