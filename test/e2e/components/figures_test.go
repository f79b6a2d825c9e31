//go:build e2e

package components

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// maxMemory is the limit of refit-components in MiB.
const maxMemory = 250

// showFigures prints how long each component took and how much memory refit-components used, and
// compares them with Helm's own upgrades.
func (s *site) showFigures(t *testing.T, admitted *admissions) {
	t.Helper()
	took := map[string]float64{}
	for _, name := range append(slices.Sorted(maps.Keys(s.after)), made) {
		took[name] = s.showSteps(t, name)
		show(t, "components_upgrade_"+strings.ReplaceAll(name, "-", "_"), took[name], "s")
	}
	upgraded := s.upgrade(t, lws).Status
	for _, failed := range admitted.show(t, "components_admissions", upgraded.StartTime.Time, upgraded.CompletionTime.Time) {
		t.Errorf("an admission failed at %s: %v", failed.at.Format(time.TimeOnly), failed.err)
	}
	s.showMemory(t)
	s.compareWithHelm(t, took, admitted)
}

// showSteps logs how long each step of the last upgrade of a component took, and returns the sum.
func (s *site) showSteps(t *testing.T, name string) (seconds float64) {
	t.Helper()
	status := s.upgrade(t, name).Status
	for _, step := range status.Steps {
		t.Logf("%s: %s took %s", name, step.Name, step.CompletionTime.Sub(step.StartTime.Time))
	}
	return status.CompletionTime.Sub(status.StartTime.Time).Seconds()
}

// showMemory prints the peak of the resident memory of refit-components, from its processes on the
// hosts. None may have been killed for its memory.
func (s *site) showMemory(t *testing.T) {
	t.Helper()
	peak := 0.0
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		out, err := n.Exec(t.Context(), "grep", "--with-filename", "--extended-regexp", "^(Name|VmHWM):", "--recursive", "--no-messages",
			"--include=status", "--exclude-dir=task", "--exclude-dir=net", "/proc")
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		ours := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			file, text, _ := strings.Cut(strings.TrimSpace(line), ":")
			key, value, _ := strings.Cut(text, ":")
			value = strings.TrimSpace(value)
			switch {
			case key == "Name":
				ours[file] = value == "refit-component" // the kernel cuts names
			case ours[file]:
				kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 64)
				must(t, err)
				peak = max(peak, kib/1024)
			}
		}
	}
	show(t, "components_memory", peak, "MiB")
	if peak == 0 || peak > maxMemory {
		t.Errorf("refit-components used %.0f MiB, the limit is %d MiB", peak, maxMemory)
	}
	const reasons = "--output=jsonpath={.items[*].status.containerStatuses[*].lastState.terminated.reason}"
	if ended := string(s.kubectl(t, "", "get", "pods", "--namespace=refit-components", reasons)); strings.Contains(ended, "OOMKilled") {
		t.Errorf("the containers ended with %s", ended)
	}
}

// compareWithHelm rolls components back and upgrades them again with Helm alone. LeaderWorkerSet is
// rolled back to the revision of its adoption, which has no CRD that Helm could delete.
func (s *site) compareWithHelm(t *testing.T, took map[string]float64, admitted *admissions) {
	t.Helper()
	_, bare := s.bare(t, metricsServer, "kube-system", s.installed[metricsServer].Revision, s.after[metricsServer].Chart,
		"--set=image.tag="+tagOf(s.after[metricsServer]), "--set-json=args="+userArgs, "--set-json=resources="+userResources)
	if limit := 1.25*bare + 10; took[metricsServer] > limit {
		t.Errorf("the upgrade of metrics-server took %.0f s, the limit is %.0f s", took[metricsServer], limit)
	}
	adopted, err := strconv.Atoi(s.installed[lws].Revision)
	must(t, err)
	begun, _ := s.bare(t, lws, lwsNamespace, strconv.Itoa(adopted+1), s.after[lws].Chart, "--set=image.manager.tag="+tagOf(s.after[lws]),
		"--set=image.manager.pullPolicy=IfNotPresent", "--set-json=resources="+userResources, fmt.Sprintf("--set=replicaCount=%d", s.replicas()))
	admitted.show(t, "components_bare_admissions", begun, time.Now())
}

// bare rolls a Helm release back, and returns when its upgrade with Helm began and how many seconds
// it took.
func (s *site) bare(t *testing.T, name, namespace, revision, chart string, values ...string) (begun time.Time, seconds float64) {
	t.Helper()
	wait := []string{"--namespace=" + namespace, "--wait", "--timeout=5m"}
	s.run(t, slices.Concat([]string{"rollback", name, revision}, wait)...)
	begun = time.Now()
	s.run(t, slices.Concat([]string{"upgrade", name, chart}, values, wait)...)
	seconds = time.Since(begun).Seconds()
	show(t, "components_bare_"+strings.ReplaceAll(name, "-", "_"), seconds, "s")
	return begun, seconds
}

// hasMetrics returns an error unless metrics-server has metrics of every node.
func (s *site) hasMetrics(ctx context.Context) error {
	out, err := s.Kubectl(ctx, nil, "top", "nodes", "--no-headers")
	if err != nil {
		return err
	}
	if got := strings.Count(strings.TrimSpace(string(out)), "\n") + 1; got != len(s.Nodes()) {
		return fmt.Errorf("%d of %d nodes have metrics:\n%s", got, len(s.Nodes()), out)
	}
	return nil
}
