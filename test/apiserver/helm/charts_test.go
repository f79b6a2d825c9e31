//go:build apiserver

package helm

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/refit-dev/refit/test/apiserver"
)

// kueueDistance is the distance between the tested places of Kueue, which has hundreds of writes.
// It is odd, so that both places of a write are tested.
const kueueDistance = 13

// distance returns the distance between the tested places of a real chart. A slow machine may test
// fewer of them.
func distance(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("REFIT_COMPONENTS_DISTANCE")
	if text == "" {
		return usual
	}
	factor, err := strconv.Atoi(text)
	must(t, err)
	return factor * usual
}

// TestMetricsServer kills upgrades and rollbacks of metrics-server, which has an APIService whose
// group nothing serves here, and an object in another namespace.
func TestMetricsServer(t *testing.T) {
	t.Parallel()
	full(t)
	chart := realChart{module: "sigs.k8s.io/metrics-server", name: "metrics-server", old: "v0.7.2", to: "v0.9.0"}
	chart.report(t, "helm_metrics_server", distance(t, 1))
}

// TestKueue kills upgrades and rollbacks of Kueue, which has its CRDs among its templates.
func TestKueue(t *testing.T) {
	t.Parallel()
	full(t)
	chart := realChart{module: "sigs.k8s.io/kueue", name: "kueue", old: "v0.14.0", to: "v0.15.0"}
	chart.report(t, "helm_kueue", distance(t, kueueDistance))
}

// A realChart is a chart in a Go module.
type realChart struct{ module, name, old, to string }

// report kills an upgrade and its rollback at each place, or at some of them, and prints the
// numbers of places and of kills. The charts have names for the whole cluster, so the server is
// their own.
func (c realChart) report(t *testing.T, name string, every int) {
	t.Helper()
	old, to := c.load(t, c.old), c.load(t, c.to)
	l := newLane(t, apiserver.Start(t, apiserver.Options{}), packed(t, old), packed(t, to))
	bareInstall(t, l.config, l.release.Namespace, l.release.Name, old, true)
	_, err := l.client(&apiserver.Killer{}).KeepCRDs(bounded(t), l.to.Rendering)
	must(t, err)
	l.upgraded, l.rolledBack = l.clean(l.upgrade()), l.clean(l.rollback())
	l.places(name, every)
}

// places kills at places of an upgrade and of its rollback: two of each write.
func (l *lane) places(name string, every int) {
	l.t.Helper()
	kills := 0
	for n := 0; n < l.lastPlace(); n += every {
		kills += l.cycle(n)
	}
	report(l.t, name+"_distance", float64(every), "places")
	report(l.t, name+"_places", float64(2*(l.upgraded.writes+l.rolledBack.writes)), "places")
	report(l.t, name+"_kills", float64(kills), "kills")
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
