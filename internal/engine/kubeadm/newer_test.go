package kubeadm

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The API server of cp-1 returns to v1.35.4. A kubelet may talk to it through the load balancer,
// whatever the versions of the other API servers are.
func TestNewerKubelets(t *testing.T) {
	kubelet := func(name, version string, labels map[string]string) *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: version}},
		}
	}
	server := func(name, version string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "kube-apiserver-" + name, Namespace: metav1.NamespaceSystem, Labels: map[string]string{"component": APIServer}},
			Spec:       corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: APIServer, Image: "registry.k8s.io/kube-apiserver:" + version}}},
		}
	}
	controlPlane := map[string]string{"node-role.kubernetes.io/control-plane": ""}
	for name, tt := range map[string]struct {
		there              []runtime.Object
		workers, ofServers []string
	}{
		"alone":                  {nil, nil, nil},
		"only this node is new":  {[]runtime.Object{kubelet("cp-1", "v1.36.3", nil), kubelet("w", "v1.35.4", nil)}, nil, nil},
		"a worker is new":        {[]runtime.Object{kubelet("w-2", "v1.36.3", nil), kubelet("w-1", "v1.36.3", nil)}, []string{"w-1", "w-2"}, nil},
		"another patch release":  {[]runtime.Object{kubelet("w", "v1.35.9", nil)}, nil, nil},
		"a worker never started": {[]runtime.Object{kubelet("w", "", nil)}, nil, nil},
		"an unreadable version":  {[]runtime.Object{kubelet("w", "custom", nil)}, []string{"w"}, nil},
		"another API server is new, and so are the workers": {
			[]runtime.Object{kubelet("cp-2", "v1.36.3", controlPlane), server("cp-2", "v1.36.3"), kubelet("w", "v1.36.3", nil)},
			[]string{"w"},
			[]string{"cp-2"},
		},
		"a control plane node without its label": {[]runtime.Object{kubelet("cp-2", "v1.36.3", nil), server("cp-2", "v1.36.3")}, nil, []string{"cp-2"}},
		"its API server is down":                 {[]runtime.Object{kubelet("cp-2", "v1.36.3", controlPlane)}, nil, []string{"cp-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := NewerKubelets(t.Context(), fake.NewClientset(tt.there...), "cp-1", "v1.35.4")
			if err != nil || !slices.Equal(got.Workers, tt.workers) || !slices.Equal(got.ControlPlane, tt.ofServers) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	away := fake.NewClientset()
	away.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, context.DeadlineExceeded })
	_, err := NewerKubelets(t.Context(), away, "cp-1", "v1.35.4")
	expect(t, err, refitv1alpha1.FailureTransient, "APIUnavailable")
}
