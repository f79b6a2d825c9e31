package bundling

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func TestFlags(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(*Flags)
		want   string
	}{
		"no size":           {func(f *Flags) { f.Size = "big" }, `--max-size must be a size such as 64Mi, not "big"`},
		"too much":          {func(f *Flags) { f.HostSize = "1Ti" }, "the size per host must be between 64 KiB and 64 MiB"},
		"no time":           {func(f *Flags) { f.Timeout = 0 }, "the timeout must be between"},
		"too many hosts":    {func(f *Flags) { f.Hosts = 5000 }, "the number of hosts must be between"},
		"a negative period": {func(f *Flags) { f.Since = -time.Hour }, "--since must be positive"},
		"no expression":     {func(f *Flags) { f.Redact = []string{"("} }, "--redact: error parsing"},
	} {
		f := DefaultFlags()
		c.change(&f)
		_, err := f.Options("")
		if _, usage := errors.AsType[exit.UsageError](err); !usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", situation, err, c.want)
		}
	}
	f := DefaultFlags()
	o, err := f.Options("to-v1-36-3")
	if err != nil || o.Limits != supportbundle.DefaultLimits() || o.Operation != "to-v1-36-3" {
		t.Errorf("%+v, %v", o, err)
	}
}

type quiet struct{ parts []string }

func (q *quiet) Part(what string) { q.parts = append(q.parts, what) }
func (q *quiet) End()             {}

// newBundler returns a Bundler of an empty cluster.
func newBundler(progress *quiet) *Bundler {
	kinds := map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "nodes"}: "NodeList", {Version: "v1", Resource: "pods"}: "PodList", {Version: "v1", Resource: "events"}: "EventList",
		{Group: "apps", Version: "v1", Resource: "daemonsets"}: "DaemonSetList", {Group: "apps", Version: "v1", Resource: "deployments"}: "DeploymentList",
		{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}: "LeaseList",
	}
	for _, kind := range engine.Kinds {
		kinds[refitv1alpha1.GroupVersion.WithResource(kind)] = kind + "List"
	}
	return &Bundler{
		Version: "v0", Now: time.Now, Local: &host.Reader{StateDir: "/nonexistent"},
		Clients: func(*rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
			return fake.NewClientset(), dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds), nil
		},
		Progress: func(string, bool) Progress { return progress },
	}
}

// kubeconfig returns the kubeconfig of a server that has no version.
func kubeconfig(t *testing.T) *connect.Kubeconfig {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: prod\nclusters: [{name: a, cluster: {server: \"" + server.URL +
		"\"}}]\ncontexts: [{name: prod, context: {cluster: a, user: me}}]\nusers: [{name: me, user: {}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &connect.Kubeconfig{Path: path}
}

func TestABundleIsAFile(t *testing.T) {
	progress := &quiet{}
	f := DefaultFlags()
	f.File = filepath.Join(t.TempDir(), "bundle.tar.gz")
	o, err := f.Options("")
	if err != nil {
		t.Fatal(err)
	}
	index, err := newBundler(progress).Collect(t.Context(), kubeconfig(t), &f, o)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.File)
	if err != nil || info.Size() != index.FileBytes || info.Mode().Perm() != 0o600 || index.File != f.File || index.Cluster != "prod" {
		t.Errorf("the file is %v, %v; the index is %+v", info, err, index)
	}
	if len(progress.parts) < 10 {
		t.Errorf("it reports %q", progress.parts)
	}
	if _, err := newBundler(progress).Collect(t.Context(), kubeconfig(t), &f, o); err == nil || !strings.Contains(err.Error(), "choose another --file") {
		t.Errorf("a second bundle in the same file: %v", err)
	}
}

func TestABundleAfterItsTimeoutIsNotComplete(t *testing.T) {
	f := DefaultFlags()
	f.File = filepath.Join(t.TempDir(), "bundle.tar.gz")
	o, err := f.Options("")
	if err != nil {
		t.Fatal(err)
	}
	b, calls := newBundler(&quiet{}), 0
	b.Now = func() time.Time { calls++; return time.Unix(int64(calls)*600, 0) }
	index, err := b.Collect(t.Context(), kubeconfig(t), &f, o)
	if _, late := errors.AsType[exit.TimeoutError](err); !late || index == nil {
		t.Errorf("%+v, %v", index, err)
	}
}

func TestAnUnknownOperationIsNotCollected(t *testing.T) {
	f := DefaultFlags()
	f.File = filepath.Join(t.TempDir(), "bundle.tar.gz")
	o, err := f.Options("gone")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newBundler(&quiet{}).Collect(t.Context(), kubeconfig(t), &f, o); err == nil || !strings.Contains(err.Error(), "ClusterUpgrade gone not found") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(f.File); !os.IsNotExist(err) {
		t.Errorf("the file exists: %v", err)
	}
}
