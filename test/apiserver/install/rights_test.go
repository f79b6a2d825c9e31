//go:build apiserver

package install

import (
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/test/apiserver"
)

// may reports whether the controller is permitted something: "verb group/resource/subresource
// namespace/name", or "verb /url".
func (b *bed) may(t *testing.T, what string) bool {
	t.Helper()
	spec := authorizationv1.SubjectAccessReviewSpec{User: controllerUser, Groups: controllerGroups}
	verb, rest, _ := strings.Cut(what, " ")
	if strings.HasPrefix(rest, "/") {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: verb, Path: rest}
	} else {
		resource, object, _ := strings.Cut(rest, " ")
		parts := append(strings.Split(resource, "/"), "")
		namespace, name, _ := strings.Cut(object, "/")
		spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: verb, Group: strings.TrimPrefix(parts[0], "core"), Resource: parts[1], Subresource: parts[2], Namespace: namespace, Name: name,
		}
	}
	review, err := b.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
	must(t, err)
	return review.Status.Allowed
}

func TestPermissionsOfTheController(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		b.apply(t, options(), false)
		may := []string{
			"list core/nodes", "patch core/nodes /n1", "watch core/pods", "create core/pods/eviction shop/cart-1", "delete core/pods shop/cart-1",
			"list policy/poddisruptionbudgets", "get core/configmaps kube-system/kubeadm-config", "get core/configmaps kube-system/kubelet-config",
			"get core/configmaps kube-system/kube-proxy", "get core/configmaps kube-system/coredns", "get apps/deployments kube-system/coredns",
			"list coordination.k8s.io/leases kube-system/", "create coordination.k8s.io/leases refit-system/", "update coordination.k8s.io/leases refit-system/refit",
			"update refit.dev/clusterupgrades/status /op", "update refit.dev/clusterupgrades/finalizers /op", "create refit.dev/nodeupgrades",
			"patch refit.dev/nodeupgrades/status /n1", "patch refit.dev/nodereports /n1", "get refit.dev/clusterreleases /r", "create core/events default/",
			"create core/pods refit-trial/", "watch core/pods refit-trial/", "delete core/pods refit-trial/n1", "list core/events refit-trial/",
			"watch refit.dev/components", "watch refit.dev/componentupgrades", "create refit.dev/componentupgrades", "update refit.dev/componentupgrades /liqo",
			"get apps/daemonsets refit-agent/refit-agent", "get /metrics", "get /readyz", "get /version",
		}
		for deadline := time.Now().Add(checkTimeout); !b.may(t, may[0]) && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond) // RBAC observes a binding with a delay
		}
		for _, what := range may {
			if !b.may(t, what) {
				t.Errorf("it may not %s", what)
			}
		}
		for _, what := range []string{
			// No workloads except for Pods in refit-trial, which it cannot change.
			"update core/pods refit-trial/n1", "patch core/pods refit-trial/n1", "create core/pods/exec refit-trial/n1", "update core/pods/ephemeralcontainers refit-trial/n1",
			"patch core/namespaces /refit-trial", "list core/events refit-system/", "list apps/daemonsets refit-agent/",
			"create core/pods refit-system/", "create core/pods refit-agent/", "create core/pods default/", "create core/pods kube-system/", "create core/pods",
			"update core/pods shop/cart-1", "patch core/pods shop/cart-1", "create core/pods/exec shop/cart-1", "update core/pods/ephemeralcontainers shop/cart-1",
			"get core/pods/proxy kube-system/kube-apiserver-n1", "create core/pods/binding shop/cart-1", "deletecollection core/pods shop/",
			"create apps/daemonsets refit-agent/", "patch apps/daemonsets refit-agent/refit-agent", "create apps/deployments refit-system/",
			"patch apps/deployments refit-system/refit-controller", "create batch/jobs default/", "create apps/statefulsets default/", "create core/replicationcontrollers default/",
			// No secrets, and nothing that grants permissions.
			"get core/secrets default/x", "list core/secrets", "create core/serviceaccounts/token refit-system/refit-controller", "impersonate core/users /admin",
			"create rbac.authorization.k8s.io/clusterrolebindings", "escalate rbac.authorization.k8s.io/clusterroles", "bind rbac.authorization.k8s.io/clusterroles",
			"get core/configmaps kube-system/other", "list core/configmaps kube-system/", "get core/configmaps refit-agent/refit-agent",
			"update core/configmaps refit-agent/refit-agent", "create core/nodes/proxy /n1", "get core/nodes/proxy /n1", "delete core/nodes /n1", "patch core/nodes/status /n1",
			"update admissionregistration.k8s.io/validatingadmissionpolicies /refit-nodes", "patch apiextensions.k8s.io/customresourcedefinitions /clusterreleases.refit.dev",
			"update coordination.k8s.io/leases kube-system/kube-scheduler",
			// Nothing that belongs to users or agents.
			"approve refit.dev/clusterupgrades /op", "create refit.dev/clusterupgrades", "delete refit.dev/clusterupgrades /op", "create refit.dev/clusterreleases",
			"update refit.dev/clusterreleases /r", "patch refit.dev/nodereports/status /n1", "create refit.dev/nodereports", "delete refit.dev/nodereports /n1",
			"create refit.dev/components", "update refit.dev/components /liqo", "approve refit.dev/components /liqo", "update refit.dev/components/status /liqo",
			"update refit.dev/componentupgrades/status /liqo", "delete refit.dev/componentupgrades /liqo",
			"get core/secrets refit-components/values", "get core/configmaps refit-components/refit-components", "create core/pods refit-components/",
			"get /logs", "get /debug/pprof",
		} {
			if b.may(t, what) {
				t.Errorf("it may %s", what)
			}
		}
	})
}

// kubeadm creates the objects that kubeadm maintains.
func (b *bed) kubeadm(t *testing.T) {
	t.Helper()
	for name, data := range map[string]map[string]string{
		"kubeadm-config": {"ClusterConfiguration": "kind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n"},
		"kubelet-config": {"kubelet": "kind: KubeletConfiguration\n"}, "kube-proxy": {"config.conf": "kind: KubeProxyConfiguration\n"}, "coredns": {"Corefile": ".:53 {\n}\n"},
	} {
		_, err := b.client.CoreV1().ConfigMaps("kube-system").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
		must(t, err)
	}
}

// TestTheControllerSeesTheCluster proves that the controller's permissions suffice for a whole
// snapshot, except for the contents of Secrets.
func TestTheControllerSeesTheCluster(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		b.apply(t, options(), false)
		b.node(t, "n1", true)
		b.kubeadm(t)
		for deadline := time.Now().Add(checkTimeout); !b.may(t, "get refit.dev/clusterreleases /r") && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
		reader, err := observe.New(b.As(t, controllerUser, controllerGroups...), observe.Options{})
		must(t, err)
		snapshot, err := reader.Snapshot(t.Context(), "")
		must(t, err)
		var forbidden []string
		for _, gap := range snapshot.Gaps {
			if gap.Kind == cluster.GapForbidden {
				forbidden = append(forbidden, string(gap.Part))
			}
		}
		slices.Sort(forbidden)
		if forbidden = slices.Compact(forbidden); !slices.Equal(forbidden, []string{string(cluster.PartHelm)}) {
			t.Errorf("it may not read %v: %+v", forbidden, snapshot.Gaps)
		}
	})
}
