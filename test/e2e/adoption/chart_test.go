//go:build e2e

package adoption

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAdoptionChart installs the chart as docs/install.md describes it, upgrades it to other
// values, and uninstalls it without leftovers.
func TestAdoptionChart(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{Name: "chart", ControlPlanes: 1, Workers: 1, Kubernetes: bed.Older}, false)
	binary, err := testbed.Builder(t).Helm(context.WithoutCancel(t.Context()))
	bed.Must(t, err)
	helm := func(args ...string) string {
		t.Helper()
		begun := time.Now()
		out := bed.Run(t, binary, append(args, "--namespace=kube-system", "--kubeconfig="+s.KubeconfigFile())...)
		t.Logf("helm %s: %.1fs", args[0], time.Since(begun).Seconds())
		return string(out)
	}
	const chart = "../../../charts/refit"
	values := []string{"--set=images.tag=development", `--set-file=keys.release\.pem=` + s.Key.Public, "--wait", "--timeout=10m"}

	helm(slices.Concat([]string{"install", "refit", chart}, values)...)
	requireSuccess(t, helm("test", "refit"))
	allReport(t, s)
	if out := s.Refused(t, bed.ExitFailed, "install", "--release-key", s.Key.Public); !strings.Contains(out, "Helm") {
		t.Errorf("refit install does not name Helm: %s", out)
	}

	changed := []string{"--set=metrics.service=true", "--set=controller.resources.requests.memory=96Mi", "--set=controller.tolerations[0].key=dedicated"}
	helm(slices.Concat([]string{"upgrade", "refit", chart}, values, changed)...)
	requireSuccess(t, helm("test", "refit"))
	allReport(t, s)
	for _, want := range []struct{ object, path, value string }{
		{"deployment/refit-controller", `{.spec.template.spec.containers[0].resources.requests.memory}`, "96Mi"},
		{"deployment/refit-controller", `{.spec.template.spec.tolerations[?(@.key=="dedicated")].key}`, "dedicated"},
		{"service/refit-controller-metrics", "{.spec.ports[0].port}", "8080"},
	} {
		got, err := s.Kubectl(t.Context(), nil, "--namespace=refit-system", "get", want.object, "--output=jsonpath="+want.path)
		if err != nil || string(got) != want.value {
			t.Errorf("%s of %s is %q instead of %q (%v)", want.path, want.object, got, want.value, err)
		}
	}

	s.RunRefit(t, "uninstall", "--yes")
	helm("uninstall", "refit", "--wait")
	s.NothingLeft(t)
}

// requireSuccess requires that a test of Helm ran and succeeded.
func requireSuccess(t *testing.T, output string) {
	t.Helper()
	if !strings.Contains(output, "refit-check") || !strings.Contains(output, "Succeeded") {
		t.Errorf("helm test: %s", output)
	}
}

// allReport waits until the agent of every node reports.
func allReport(t *testing.T, s *bed.Site) {
	t.Helper()
	var reports struct {
		Items []json.RawMessage `json:"items"`
	}
	bed.Must(t, bed.Until(t.Context(), "every agent reports", 2*time.Minute, func(ctx context.Context) error {
		out, err := s.Kubectl(ctx, nil, "get", "nodereports", "--output=json")
		if err := cmp.Or(err, json.Unmarshal(out, &reports)); err != nil {
			return err
		}
		if got, want := len(reports.Items), len(s.Nodes()); got != want {
			return fmt.Errorf("%d of %d report", got, want)
		}
		return nil
	}))
}
