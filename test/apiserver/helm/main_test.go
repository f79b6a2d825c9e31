//go:build apiserver

package helm

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const (
	actionTimeout = 10 * time.Minute // the machine may be busy
	hookTimeout   = time.Minute
)

// Helm logs to the default logger what an action repeats.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	code := apiserver.Main(m)
	if err := tally.print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var discard = slog.DiscardHandler

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func report(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(name, value, unit))
}

// capabilities are those of the server, without discovery.
func capabilities(s *apiserver.Server) helm.Capabilities {
	return helm.Capabilities{Kubernetes: s.Version(), APIVersions: []string{"v1", "apps/v1", "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"}}
}

// pack loads a chart from a directory and packs it.
func pack(t *testing.T, directory string) *helm.Chart {
	t.Helper()
	content, err := loader.LoadDir(directory)
	must(t, err)
	return packed(t, content)
}

func packed(t *testing.T, content *chartv2.Chart) *helm.Chart {
	t.Helper()
	path, err := chartutil.Save(content, t.TempDir())
	must(t, err)
	archive, err := os.ReadFile(path)
	must(t, err)
	chart, err := helm.Load(archive)
	must(t, err)
	return chart
}

func made(t *testing.T, version int) *helm.Chart {
	t.Helper()
	return pack(t, filepath.Join("testdata", fmt.Sprintf("made-%d", version)))
}

// namespace creates a namespace for a release.
func namespace(t *testing.T, config *rest.Config) string {
	t.Helper()
	admin, err := kubernetes.NewForConfig(config)
	must(t, err)
	created, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "helm-"}}, metav1.CreateOptions{})
	must(t, err)
	return created.Name
}

// rendered returns an upgrade to a chart.
func rendered(t *testing.T, s *apiserver.Server, chart *helm.Chart, r helm.Release, upgrade bool) helm.Upgrade {
	t.Helper()
	rendering, err := helm.Render(t.Context(), chart, nil, r, capabilities(s), upgrade)
	must(t, err)
	return helm.Upgrade{Chart: chart, Capabilities: capabilities(s), Rendering: rendering, HookTimeout: hookTimeout}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), actionTimeout)
	t.Cleanup(cancel)
	return ctx
}
