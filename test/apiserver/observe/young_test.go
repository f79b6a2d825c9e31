//go:build apiserver

package observe

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestSnapshotOfAYoungCluster has one node without Refit, whose address only the cluster can reach;
// then it installs Refit, and creates more objects than fit on a page.
func TestSnapshotOfAYoungCluster(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{})
	const releases, operations = 30, 60 // pages have 25 and 50
	s.Load(t, 4, func(yield func(runtime.Object) bool) {
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "cp-1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}},
			Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.9"}}},
		}
		if !yield(node) || !yield(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}) {
			return
		}
	})
	s.Load(t, 4, func(yield func(runtime.Object) bool) {
		for i := range releases {
			if !yield(helmSecret(t, fmt.Sprintf("release-%02d", i), 1, "deployed", manifestOf("v1", "Service", "web"))) {
				return
			}
		}
	})

	young := snapshot(t, s)
	if young.Installed {
		t.Error("Refit is said to be installed")
	}
	for _, part := range []cluster.Part{cluster.PartReports, cluster.PartUpgrades, cluster.PartReleases, cluster.PartOperations} {
		if gap, found := young.Gap(part); !found || gap.Kind != cluster.GapAbsent || !strings.Contains(gap.Message, "refit install") {
			t.Errorf("the gap in %s is %+v", part, gap)
		}
	}
	if gap, found := young.Gap(cluster.PartKubeadm); !found || gap.Kind != cluster.GapAbsent || young.Kubeadm != nil {
		t.Errorf("the gap in kubeadm's configuration is %+v", gap)
	}
	server := young.APIServer("cp-1")
	if server.Via != cluster.ViaEndpoint || server.Version != s.Version() || server.Ready != cluster.Yes || server.DeprecatedKnown != cluster.Yes {
		t.Errorf("the only API server is %+v", server)
	}
	if len(young.Helm) != releases {
		t.Errorf("of %d Helm releases %d were seen", releases, len(young.Helm))
	}

	s.Install(t, "../../../config/crd")
	client, err := dynamic.NewForConfig(s.RESTConfig())
	must(t, err)
	for i := range operations {
		_, err := client.Resource(refitv1alpha1.GroupVersion.WithResource("clusterupgrades")).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "refit.dev/v1alpha1", "kind": "ClusterUpgrade", "metadata": map[string]any{"name": fmt.Sprintf("operation-%02d", i)},
			"spec": map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}},
		}}, metav1.CreateOptions{})
		must(t, err)
	}
	grown := snapshot(t, s)
	if !grown.Installed || len(grown.Others) != operations {
		t.Errorf("installed: %t; of %d operations %d were seen", grown.Installed, operations, len(grown.Others))
	}
}

func snapshot(t *testing.T, s *apiserver.Server) *cluster.Snapshot {
	t.Helper()
	reader, err := observe.New(s.RESTConfig(), observe.Options{})
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	got, err := reader.Snapshot(ctx, "")
	must(t, err)
	return got
}
