//go:build apiserver

package helm

import (
	"context"
	"fmt"
	"testing"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
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

// TestLeaderWorkerSet upgrades LeaderWorkerSet, whose CRD moved from the templates of its chart to
// crds/. Helm alone deletes the CRD with all objects and reports success.
func TestLeaderWorkerSet(t *testing.T) {
	t.Parallel()
	full(t)
	chart := realChart{module: "sigs.k8s.io/lws", name: "lws"}
	old, to := chart.load(t, lwsOld), chart.load(t, lwsNew)
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
		_, err := l.client(&apiserver.Killer{}).KeepCRDs(bounded(t), l.to.Rendering)
		must(t, err)
		l.upgraded = l.clean(l.upgrade())
		lost := lwsLost(t, client, before)
		l.rolledBack = l.clean(l.rollback())
		lost += lwsLost(t, client, before)
		l.places("helm_lws", distance(t, 1))
		lost += lwsLost(t, client, before)
		report(t, "helm_lws_objects_lost_refit", float64(lost), "objects")
		if lost > 0 {
			t.Errorf("%d objects were lost or created again", lost)
		}
	})
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

// lwsLost returns how many objects were lost or created again.
func lwsLost(t *testing.T, client dynamic.Interface, want map[string]string) int {
	t.Helper()
	list, err := client.Resource(lwsResource).Namespace("default").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	same := 0
	for _, item := range list.Items {
		if want[item.GetName()] == string(item.GetUID()) {
			same++
		}
	}
	return len(want) - same
}
