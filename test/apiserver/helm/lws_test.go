//go:build apiserver

package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/test/apiserver"
)

const (
	lwsOld, lwsNew = "v0.7.0", "v0.8.0"
	lwsCRD         = "leaderworkersets.leaderworkerset.x-k8s.io"
	lwsObjects     = 3
)

var lwsResource = schema.GroupVersionResource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}

// full skips tests that take minutes or download charts. It returns the distance between kills: 1
// kills before and after each write, 7 only at every seventh of these places.
func full(t *testing.T) int {
	t.Helper()
	distance, err := strconv.Atoi(os.Getenv("REFIT_HELM_FULL"))
	if err != nil || distance < 1 {
		t.Skip("it takes minutes: set REFIT_HELM_FULL=1, or run make test-helm-full")
	}
	return distance
}

// TestLeaderWorkerSet upgrades LeaderWorkerSet, whose CRD moved from the templates of its chart to
// crds/. Helm alone deletes the CRD with all objects and reports success.
func TestLeaderWorkerSet(t *testing.T) {
	distance := full(t)
	old, to := leaderWorkerSet(t, lwsOld), leaderWorkerSet(t, lwsNew)
	t.Run("Helm alone", func(t *testing.T) {
		config := apiserver.Start(t, apiserver.Options{}).RESTConfig()
		client, before := lwsWithObjects(t, config, "lws", "lws", old)
		must(t, bareUpgrade(t, config, "lws", "lws", to))
		must(t, wait.PollUntilContextTimeout(bounded(t), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			_, err := client.Resource(crdResource).Get(ctx, lwsCRD, metav1.GetOptions{})
			return apierrors.IsNotFound(err), nil
		}))
		report(t, "helm_lws_objects_lost_bare", float64(len(before)), "objects")
	})
	t.Run("Refit", func(t *testing.T) {
		s := apiserver.Start(t, apiserver.Options{})
		l := newLane(t, s, packed(t, old), packed(t, to))
		client, before := lwsWithObjects(t, l.config, l.release.Namespace, l.release.Name, old)
		_, err := l.client(&killer{}).KeepCRDs(bounded(t), l.to.Rendering)
		must(t, err)
		l.upgraded = l.clean(l.upgrade())
		lwsSame(t, client, before)
		l.rolledBack = l.clean(l.rollback())
		lwsSame(t, client, before)
		report(t, "helm_lws_objects_lost_refit", 0, "objects")
		report(t, "helm_lws_writes", float64(l.upgraded.writes+l.rolledBack.writes), "writes")
		kills := 0
		for n := 0; n < 2*max(l.upgraded.writes, l.rolledBack.writes); n += distance {
			kills += l.cycle(n)
		}
		lwsSame(t, client, before)
		report(t, "helm_lws_kills", float64(kills), "kills")
	})
}

// leaderWorkerSet loads the chart of a version from the Go module proxy.
func leaderWorkerSet(t *testing.T, version string) *chartv2.Chart {
	t.Helper()
	command := exec.CommandContext(bounded(t), "go", "mod", "download", "-json", "sigs.k8s.io/lws@"+version)
	command.Dir = t.TempDir()
	out, err := command.Output()
	must(t, err)
	var module struct{ Dir string }
	must(t, json.Unmarshal(out, &module))
	chart, err := loader.LoadDir(filepath.Join(module.Dir, "charts", "lws"))
	must(t, err)
	return chart
}

// lwsWithObjects installs the chart with Helm alone and creates objects. Nothing serves the
// webhooks, so they are deleted first; the upgrade creates them again.
func lwsWithObjects(t *testing.T, config *rest.Config, namespace, name string, chart *chartv2.Chart) (dynamic.Interface, map[string]string) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	created := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	_, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), created, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	bareInstall(t, config, namespace, name, chart, true)
	for _, resource := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
		webhooks := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
		must(t, client.Resource(webhooks).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
	found := map[string]string{}
	for i := range lwsObjects {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": map[string]any{"name": fmt.Sprintf("set-%d", i)},
			"spec": map[string]any{"leaderWorkerTemplate": map[string]any{"size": int64(2), "workerTemplate": map[string]any{
				"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "registry.test/a:1"}}},
			}}},
		}}
		var made *unstructured.Unstructured
		must(t, wait.PollUntilContextTimeout(bounded(t), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			made, err = client.Resource(lwsResource).Namespace("default").Create(ctx, object, metav1.CreateOptions{})
			return err == nil, nil // until the CRD is established and the webhooks are gone
		}))
		found[made.GetName()] = string(made.GetUID())
	}
	return client, found
}

// lwsSame fails if an object was lost or created again.
func lwsSame(t *testing.T, client dynamic.Interface, want map[string]string) {
	t.Helper()
	list, err := client.Resource(lwsResource).Namespace("default").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	same := 0
	for _, item := range list.Items {
		if want[item.GetName()] == string(item.GetUID()) {
			same++
		}
	}
	if same != len(want) {
		t.Fatalf("%d of %d objects are left", same, len(want))
	}
}
