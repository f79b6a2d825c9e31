//go:build e2e

package components

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// maxMemory is the limit of refit-components in MiB.
const maxMemory = 250

// showFigures prints how long each component took and how much memory refit-components used, and
// compares one of them with Helm's own upgrade.
func (s *site) showFigures(t *testing.T) {
	t.Helper()
	took := map[string]float64{}
	for _, name := range []string{made, lws, metricsServer} {
		status := s.upgrade(t, name).Status
		took[name] = status.CompletionTime.Sub(status.StartTime.Time).Seconds()
		show(t, "components_upgrade_"+strings.ReplaceAll(name, "-", "_"), took[name], "s")
		for _, step := range status.Steps {
			t.Logf("%s: %s took %s", name, step.Name, step.CompletionTime.Sub(step.StartTime.Time))
		}
	}
	s.showMemory(t)
	s.compareWithHelm(t, took[metricsServer])
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
				ours[file] = strings.HasPrefix("refit-components", value) && len(value) == 15 // the kernel's limit
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

// compareWithHelm rolls metrics-server back and upgrades it again with Helm alone.
func (s *site) compareWithHelm(t *testing.T, refit float64) {
	t.Helper()
	namespace, wait := "--namespace=kube-system", []string{"--wait", "--timeout=5m"}
	s.run(t, append([]string{"rollback", metricsServer, s.installed[metricsServer].Revision, namespace}, wait...)...)
	begun := time.Now()
	s.run(t, append([]string{
		"upgrade", metricsServer, s.metrics[1].Chart, namespace, "--set=image.tag=" + tagOf(s.metrics[1]),
		"--set-json=args=" + userArgs, "--set-json=resources=" + userResources,
	}, wait...)...)
	bare := time.Since(begun).Seconds()
	show(t, "components_bare_metrics_server", bare, "s")
	if limit := 1.25*bare + 10; refit > limit {
		t.Errorf("the upgrade of metrics-server took %.0f s, the limit is %.0f s", refit, limit)
	}
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
