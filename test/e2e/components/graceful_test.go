//go:build e2e

package components

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// graceful returns a copy of the chart of LeaderWorkerSet whose webhook waits before it stops, as
// docs/components.md advises: without a preStop hook, a webhook closes its port before kube-proxy
// has changed the rules of its Service, and requests in between are refused.
func graceful(t *testing.T, chart string) string {
	t.Helper()
	directory := t.TempDir()
	bed.Run(t, "tar", "--extract", "--gzip", "--file="+chart, "--directory="+directory)
	found, err := filepath.Glob(filepath.Join(directory, "*", "templates", "manager", "deployment.yaml"))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%s has the Deployments %q", chart, found)
	}
	template, err := os.ReadFile(found[0])
	must(t, err)
	const name = "          name: manager\n"
	changed := strings.Replace(string(template), name, name+"          lifecycle: {preStop: {sleep: {seconds: 5}}}\n", 1)
	if changed == string(template) {
		t.Fatalf("%s has no container manager", found[0])
	}
	must(t, os.WriteFile(found[0], []byte(changed), 0o644))
	return filepath.Dir(filepath.Dir(filepath.Dir(found[0])))
}
