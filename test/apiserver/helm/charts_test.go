//go:build apiserver

package helm

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/refit-dev/refit/test/apiserver"
)

// kueueDistance is the distance between the writes of Kueue that are killed: it has hundreds.
const kueueDistance = 12

// TestMetricsServer kills upgrades and rollbacks of metrics-server, which has an APIService whose
// group nothing serves here, and an object in another namespace.
func TestMetricsServer(t *testing.T) {
	full(t)
	real := realChart{module: "sigs.k8s.io/metrics-server", name: "metrics-server", old: "v0.7.2", to: "v0.9.0"}
	writes, kills := real.kill(t, 1)
	report(t, "helm_metrics_server_writes", float64(writes), "writes")
	report(t, "helm_metrics_server_kills", float64(kills), "kills")
}

// TestKueue kills upgrades and rollbacks of Kueue, which has its CRDs among its templates.
func TestKueue(t *testing.T) {
	full(t)
	real := realChart{module: "sigs.k8s.io/kueue", name: "kueue", old: "v0.14.0", to: "v0.15.0"}
	writes, kills := real.kill(t, kueueDistance)
	report(t, "helm_kueue_writes", float64(writes), "writes")
	report(t, "helm_kueue_kills", float64(kills), "kills")
}

// A realChart is a chart in a Go module.
type realChart struct{ module, name, old, to string }

// kill kills an upgrade and its rollback at each place, or at some of them. It returns the numbers
// of writes and of kills. The charts have names for the whole cluster, so the server is their own.
func (c realChart) kill(t *testing.T, distance int) (writes, kills int) {
	t.Helper()
	old, to := c.load(t, c.old), c.load(t, c.to)
	l := newLane(t, apiserver.Start(t, apiserver.Options{}), packed(t, old), packed(t, to))
	bareInstall(t, l.config, l.release.Namespace, l.release.Name, old, true)
	_, err := l.client(&killer{}).KeepCRDs(bounded(t), l.to.Rendering)
	must(t, err)
	l.upgraded, l.rolledBack = l.clean(l.upgrade()), l.clean(l.rollback())
	for n := 0; n < 2*max(l.upgraded.writes, l.rolledBack.writes); n += distance {
		kills += l.cycle(n)
	}
	return l.upgraded.writes + l.rolledBack.writes, kills
}

// load loads the chart of a version from the Go module proxy.
func (c realChart) load(t *testing.T, version string) *chartv2.Chart {
	t.Helper()
	command := exec.CommandContext(bounded(t), "go", "mod", "download", "-json", c.module+"@"+version)
	command.Dir = t.TempDir()
	out, err := command.Output()
	must(t, err)
	var module struct{ Dir string }
	must(t, json.Unmarshal(out, &module))
	chart, err := loader.LoadDir(filepath.Join(module.Dir, "charts", c.name))
	must(t, err)
	return chart
}
