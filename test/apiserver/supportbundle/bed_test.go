//go:build apiserver

package supportbundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/log"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/install"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	image   = "registry.example/refit-agent:v0.1.0"
	example = "../../../examples/support-bundle"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(apiserver.Main(m))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bed is an API server with Refit, and a user with the permissions that the documentation lists.
type bed struct {
	*apiserver.Server
	admin   kubernetes.Interface
	user    kubernetes.Interface
	objects dynamic.Interface // those of the user
}

func newBed(t *testing.T, version string) *bed {
	t.Helper()
	b := &bed{Server: apiserver.Start(t, apiserver.Options{Version: version})}
	var err error
	b.admin, err = kubernetes.NewForConfig(b.RESTConfig())
	must(t, err)
	cluster, err := install.New(b.RESTConfig())
	must(t, err)
	o := install.Options{
		Manifests: os.DirFS("../../../config"), Version: "v0.1.0", Controller: "registry.example/refit-controller:v0.1.0", Agent: image,
		Keys: map[string]string{"one.pem": "key"}, Settings: "sources: [/srv/refit]\n",
	}
	rendered, err := install.Render(o)
	must(t, err)
	_, err = cluster.Apply(t.Context(), rendered, o.Version, false, install.Callbacks{})
	must(t, err)
	b.Install(t, example)
	config := b.As(t, "jane", "support")
	b.user, err = kubernetes.NewForConfig(config)
	must(t, err)
	b.objects, err = dynamic.NewForConfig(config)
	must(t, err)
	return b
}

// node creates a Node, whose kubelet reports its status or not.
func (b *bed) node(t *testing.T, name string, port int32, ready corev1.ConditionStatus, annotations map[string]string) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
	n, err := b.admin.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	must(t, err)
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}
	n.Status.DaemonEndpoints.KubeletEndpoint.Port = port
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Now()}}
	_, err = b.admin.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	must(t, err)
}

// collect collects a bundle with the permissions of the user.
func (b *bed) collect(t *testing.T, now func() time.Time) (*cliv1alpha1.SupportBundle, string) {
	t.Helper()
	collector := &engine.Collector{Typed: b.user, Dynamic: b.objects, Cluster: "test", Version: "v0.1.0", Now: now}
	var out bytes.Buffer
	options := engine.Options{Limits: supportbundle.DefaultLimits(), Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-[0-9]+`)}}
	index, err := collector.Collect(t.Context(), options, func(p engine.Progress) {
		if p.Part == nil {
			t.Log(p)
		}
	}, &out)
	must(t, err)
	return index, decompressed(t, &out)
}

// decompressed returns the names and contents of all files of an archive.
func decompressed(t *testing.T, from io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(from)
	must(t, err)
	files := tar.NewReader(z)
	var out strings.Builder
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		must(t, err)
		content, err := io.ReadAll(files)
		must(t, err)
		out.WriteString("==> " + header.Name + "\n" + string(content) + "\n")
	}
}
