//go:build apiserver

package scale

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

const (
	workers      = 32
	helmReleases = 300
)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// load creates a simulated cluster on a server, with an agent's report for every node and Helm
// releases.
func load(t *testing.T, s *apiserver.Server, wanted *cluster.Snapshot) {
	t.Helper()
	s.Install(t, "../../../config/crd")
	s.Load(t, workers, agents.Objects(wanted))
	s.Load(t, workers, agents.Contents(wanted))
	s.Load(t, workers, slices.Values(helmSecrets(t)))
	loadBudgets(t, s, wanted)
	loadReports(t, s, wanted)
}

// sideBySide calls do for each number below n, concurrently.
func sideBySide(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	must(t, group.Wait())
}

func loadBudgets(t *testing.T, s *apiserver.Server, wanted *cluster.Snapshot) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	sideBySide(t, len(wanted.Budgets), func(i int) error {
		b := agents.Budget(&wanted.Budgets[i])
		budgets := client.PolicyV1().PodDisruptionBudgets(b.Namespace)
		made, err := budgets.Create(t.Context(), b, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status = b.Status
		_, err = budgets.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
		return err
	})
}

func loadReports(t *testing.T, s *apiserver.Server, wanted *cluster.Snapshot) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.RESTConfig())
	must(t, err)
	reports := client.Resource(refitv1alpha1.GroupVersion.WithResource("nodereports"))
	clustertest.Agents()(wanted)
	sideBySide(t, len(wanted.Nodes), func(i int) error {
		n := &wanted.Nodes[i]
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&refitv1alpha1.NodeReport{
			TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "NodeReport"},
			ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Status: *n.Report,
		})
		if err != nil {
			return err
		}
		made, err := reports.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made.Object["status"] = content["status"]
		_, err = reports.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
		return err
	})
}

// helmSecrets returns releases with manifests of the size of an average chart.
func helmSecrets(t *testing.T) []runtime.Object {
	t.Helper()
	var manifest strings.Builder
	for i := range 20 {
		fmt.Fprintf(&manifest, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%d\nspec:\n  text: |\n%s", i, strings.Repeat("    some more of it\n", 100))
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	must(t, json.NewEncoder(writer).Encode(map[string]any{"manifest": manifest.String()}))
	must(t, writer.Close())
	data := []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
	var out []runtime.Object
	for i := range helmReleases {
		name := fmt.Sprintf("release-%03d", i)
		out = append(out, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: "sh.helm.release.v1." + name + ".v1",
				Labels: map[string]string{"owner": "helm", "name": name, "version": "1", "status": "deployed"},
			},
			Type: "helm.sh/release.v1", Data: map[string][]byte{"release": data},
		})
	}
	return out
}
