package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// line is one run of the command in this process.
type line struct {
	*app
	out, err *bytes.Buffer
}

// newLine makes a run that uses neither a cluster nor a kubeconfig of this machine, and whose
// checks return the given findings.
func newLine(t *testing.T, findings ...preflight.Finding) *line {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if os.Getenv("XDG_CONFIG_HOME") == "" {
		t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // where the user's own key is
	}
	l := &line{out: &bytes.Buffer{}, err: &bytes.Buffer{}}
	l.app = &app{
		name: "refit",
		Streams: terminal.Streams{
			In: strings.NewReader(""), Out: l.out, Err: l.err,
			Getenv: func(string) string { return "" }, Now: func() time.Time { return clustertest.Now },
		},
		observe: func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) {
			t.Error("the cluster was read")
			return nil, io.ErrUnexpectedEOF
		},
		preflight: func(preflight.Input) preflight.Report {
			report := preflight.Report{Findings: findings, Summary: preflight.Summary{Checks: 1, Unanswered: 2}}
			for i := range findings {
				if findings[i].Blocks() {
					report.Summary.Blocks++
				} else {
					report.Summary.Warns++
				}
			}
			return report
		},
	}
	return l
}

func (l *line) run(t *testing.T, args ...string) int {
	t.Helper()
	return run(t.Context(), l.app, args)
}

// saved writes a Snapshot to a file.
func saved(t *testing.T, s *cluster.Snapshot) string {
	t.Helper()
	var buffer bytes.Buffer
	if err := cluster.Encode(&buffer, s); err != nil {
		t.Fatal(err)
	}
	return file(t, "snapshot.json", buffer.String())
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shop is a healthy cluster of 3+2 nodes with a ClusterRelease to upgrade to.
func shop(changes ...clustertest.Change) *cluster.Snapshot {
	return clustertest.HA("v1.35.4", 3, 2, append([]clustertest.Change{
		clustertest.Released("v1.36.3"),
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"}, map[string]int32{"worker-1": 2, "worker-2": 1}),
		clustertest.Budget("shop", "cart", 1, "cart"),
	}, changes...)...)
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the output differs from %s (go test ./cmd/refit -update rewrites it; review the diff):\n%s", path, got)
	}
}

var blocks = preflight.Finding{
	Check: "BudgetNeverAllows", Severity: preflight.Block, Object: "PodDisruptionBudget shop/cart", Message: "it never allows a disruption", Remedy: "Add a replica",
}

var warns = preflight.Finding{Check: "UnmanagedPod", Severity: preflight.Warn, Object: "Pod default/debug", Message: "it has no controller", Remedy: "Delete it"}
