//go:build apiserver

package scale

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const (
	nodeCount, podCount = 5000, 30000

	mostRequests = 150 // of a plan of this cluster
	mostMemory   = 300 // MiB, of a process that plans it

	checkTimeout = 2 * time.Minute
)

func TestScale(t *testing.T) {
	if os.Getenv("REFIT_SCALE") == "" {
		t.Skip("it takes minutes: set REFIT_SCALE=1, or run make test-scale")
	}
	s := apiserver.Start(t, apiserver.Options{Audit: true, MaxRequestsInflight: 2000})
	wanted := clustertest.Synthetic(nodeCount, podCount, 1)
	begun := time.Now()
	load(t, s, wanted)
	report(t, "scale_load", time.Since(begun).Seconds(), "s")

	t.Run("reader", func(t *testing.T) { readAll(t, s, wanted) })
	t.Run("refit plan", func(t *testing.T) { planAll(t, s) })
}

// readAll reads the cluster within this process, and compares the snapshot with the created
// objects.
func readAll(t *testing.T, s *apiserver.Server, wanted *cluster.Snapshot) {
	t.Helper()
	const user = "reader"
	reader, err := observe.New(s.As(t, user, "system:masters"), observe.Options{})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	debug.FreeOSMemory()
	peak := watchHeap(t)
	got, err := reader.Snapshot(ctx, "")
	must(t, err)
	report(t, "scale_observe_heap", peak(), "MiB")
	report(t, "scale_observe", got.Cost.Took.Seconds(), "s")
	report(t, "scale_observe_requests", float64(got.Cost.Requests), "requests")
	report(t, "scale_observe_bytes", float64(got.Cost.Bytes)/(1<<20), "MiB")
	// The addresses of the simulated control plane are unreachable, so the server never receives
	// those requests.
	if asked, direct := len(s.AuditOf(t, user)), 3; got.Cost.Requests != asked+direct || got.Cost.Requests > mostRequests {
		t.Errorf("it counted %d requests, the server %d; there may be %d", got.Cost.Requests, asked, mostRequests)
	}
	same(t, wanted, got)
}

// watchHeap returns a function that returns the peak growth of the heap, in MiB.
func watchHeap(t *testing.T) func() float64 {
	t.Helper()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	before, most := stats.HeapInuse, stats.HeapInuse
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ticks := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				ticks.Stop()
				return
			case <-ticks.C:
				runtime.ReadMemStats(&stats)
				most = max(most, stats.HeapInuse)
			}
		}
	}()
	return func() float64 {
		cancel()
		<-done
		return float64(most-before) / (1 << 20)
	}
}

// planAll runs the command in a separate process.
func planAll(t *testing.T, s *apiserver.Server) {
	t.Helper()
	const user = "planner"
	refit := build(t)
	kubeconfig := s.Kubeconfig(t, s.As(t, user, "system:masters"))
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, refit, "plan", "--to", "v1.36.3", "--kubeconfig", kubeconfig, "-o", "json")
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	// Findings block this plan (there is no ClusterRelease), hence exit code 3; any other failure
	// is an error.
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() != 3 {
		t.Fatalf("refit plan: %v\n%s", err, exit.Stderr)
	} else if err != nil && exit == nil {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell what a process used")
	}
	requests, memory := len(s.AuditOf(t, user)), float64(usage.Maxrss)/1024
	report(t, "scale_plan", took.Seconds(), "s")
	report(t, "scale_plan_cpu", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "s")
	report(t, "scale_plan_requests", float64(requests), "requests")
	report(t, "scale_plan_memory", memory, "MiB")
	report(t, "scale_plan_output", float64(len(out))/1024, "KiB")
	if requests > mostRequests {
		t.Errorf("it made %d requests, there may be %d", requests, mostRequests)
	}
	if memory > mostMemory {
		t.Errorf("it took %.0f MiB, there may be %d", memory, mostMemory)
	}
}

func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refit")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/refit-dev/refit/cmd/refit").CombinedOutput()
	if err != nil {
		t.Fatalf("building refit: %v\n%s", err, out)
	}
	return path
}

func report(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(name, value, unit))
}

// same compares nodes, workloads, budgets and the placement of pods with the created ones, in any
// order.
func same(t *testing.T, wanted, got *cluster.Snapshot) {
	t.Helper()
	compare(t, "workload", workloads(wanted), workloads(got))
	compare(t, "budget", budgets(wanted), budgets(got))
	compare(t, "node", nodes(wanted), nodes(got))
	if len(got.Helm) != helmReleases || len(got.Helm[0].Objects) != 20 {
		t.Errorf("it saw %d Helm releases", len(got.Helm))
	}
	for _, part := range []cluster.Part{cluster.PartPods, cluster.PartBudgets, cluster.PartHelm, cluster.PartReports} {
		if gap, found := got.Gap(part); found {
			t.Errorf("a part is missing: %+v", gap)
		}
	}
}

func compare(t *testing.T, what string, wanted, got map[string]string) {
	t.Helper()
	differ := 0
	for key, want := range wanted {
		if got[key] != want {
			if differ++; differ <= 5 {
				t.Errorf("%s %s:\n is     %s\n wanted %s", what, key, got[key], want)
			}
		}
	}
	if differ > 5 || len(got) != len(wanted) {
		t.Errorf("%d of %d %ss differ, %d were seen", differ, len(wanted), what, len(got))
	}
}

func workloadKey(w *cluster.Workload) string { return w.Kind + " " + w.Namespace + "/" + w.Name }

func workloads(s *cluster.Snapshot) map[string]string {
	out := map[string]string{}
	for i := range s.Workloads {
		w := s.Workloads[i]
		key := workloadKey(&w)
		w.GraceSeconds = 0 // the API server defaults to 30
		out[key] = fmt.Sprintf("%+v", w)
	}
	return out
}

func budgets(s *cluster.Snapshot) map[string]string {
	out := map[string]string{}
	for i := range s.Budgets {
		out[s.Budgets[i].Key()] = fmt.Sprintf("%+v", s.Budgets[i])
	}
	return out
}

func nodes(s *cluster.Snapshot) map[string]string {
	out := map[string]string{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		pods := map[string]int32{}
		for _, set := range n.Pods {
			pods[workloadKey(&s.Workloads[set.Workload])] += set.Count
		}
		reports := n.Report != nil && n.Report.MachineID == clustertest.MachineID(n.Name)
		out[n.Name] = fmt.Sprint(n.ControlPlane, n.Zone, n.Labels, n.Addresses, n.Kubelet, n.KubeProxy, n.Runtime, n.Ready, n.Allocatable, n.Static, pods, reports)
	}
	return out
}
