package steps

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

const oldServer = `apiVersion: v1
kind: Pod
metadata: {name: kube-apiserver, namespace: kube-system}
spec:
  containers:
  - name: kube-apiserver
    image: registry.k8s.io/kube-apiserver:v1.35.4
    command: [kube-apiserver]
`

func kubeletAt(name, version string, labels map[string]string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: version}},
	}
}

// upgradedServer is a control plane node whose operation replaced an API server v1.35.4.
func upgradedServer(t *testing.T) *Host {
	t.Helper()
	h := controlPlaneHost(t)
	h.Upgrade.Role, h.Upgrade.NodeName = refitv1alpha1.RoleControlPlane, "cp-1"
	put(t, manifest(kubeadm.APIServer), oldServer)
	h.Dir = t.TempDir()
	must(t, host.Save(h.path("saved"), savedPaths()))
	return h
}

// A kubelet must not be newer than any API server that it may reach.
func TestRollbackOfAnAPIServerBelowNewerKubeletsIsRefused(t *testing.T) {
	controlPlane := map[string]string{"node-role.kubernetes.io/control-plane": ""}
	for situation, tt := range map[string]struct {
		there         []runtime.Object
		refused, warn string
	}{
		"no other node is new":        {[]runtime.Object{kubeletAt("cp-1", "v1.36.3", nil), kubeletAt("w-1", "v1.35.4", nil)}, "", ""},
		"a worker is new":             {[]runtime.Object{kubeletAt("w-1", "v1.36.3", nil)}, "w-1", ""},
		"only control planes are new": {[]runtime.Object{kubeletAt("cp-2", "v1.36.3", controlPlane)}, "", "cp-2"},
		"control planes and a worker": {[]runtime.Object{kubeletAt("cp-2", "v1.36.3", controlPlane), kubeletAt("w-1", "v1.36.3", nil)}, "w-1", "cp-2"},
		"a worker has another patch":  {[]runtime.Object{kubeletAt("w-1", "v1.35.9", nil)}, "", ""},
		"a worker of a later upgrade": {[]runtime.Object{kubeletAt("w-1", "v1.37.1", nil)}, "w-1", ""},
	} {
		t.Run(situation, func(t *testing.T) {
			var r Review
			upgradedServer(t).reviewKubelets(t.Context(), fake.NewClientset(tt.there...), &r)
			refusal := r.refusal("")
			if (refusal != nil) != (tt.refused != "") {
				t.Fatalf("refused: %v", refusal)
			}
			if refusal != nil && (refusal.Reason != "KubeletsNewer" || !strings.Contains(refusal.Message, tt.refused) || !strings.Contains(refusal.Remedy, "refit-agent undo")) {
				t.Errorf("%+v", refusal)
			}
			if got := strings.Join(r.Warnings, "; "); !strings.Contains(got, tt.warn) || (got == "") != (tt.warn == "") {
				t.Errorf("warnings %q", got)
			}
		})
	}
}

// The API may be what the rollback repairs.
func TestRollbackWithoutTheAPIWarnsAboutKubelets(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.Join(context.DeadlineExceeded)
	})
	var r Review
	upgradedServer(t).reviewKubelets(t.Context(), client, &r)
	if refusal := r.refusal(""); refusal != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "kubelet") {
		t.Errorf("%+v, %v", r, refusal)
	}
}
