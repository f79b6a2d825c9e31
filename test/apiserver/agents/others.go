package agents

import (
	"fmt"
	"iter"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// endpointAddress is where clients reach the API of a simulated cluster; the first control plane
// host has it.
const endpointAddress = "10.0.0.100"

// others returns budgets and the objects of kubeadm.
func others(s *cluster.Snapshot) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		for i := range s.Budgets {
			if !yield(Budget(&s.Budgets[i])) {
				return
			}
		}
		for _, object := range kubeadmObjects(s.Kubeadm) {
			if !yield(object) {
				return
			}
		}
	}
}

// kubeadmObjects returns the objects that kubeadm creates in a cluster.
func kubeadmObjects(k *cluster.Kubeadm) []runtime.Object {
	configMap := func(name, key, text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: name}, Data: map[string]string{key: text}}
	}
	labels := map[string]string{"k8s-app": "kube-dns"}
	return []runtime.Object{
		configMap("kubeadm-config", "ClusterConfiguration", fmt.Sprintf(
			"apiVersion: %s\nkind: ClusterConfiguration\nkubernetesVersion: %s\nclusterName: %s\ncontrolPlaneEndpoint: %s\nimageRepository: %s\n"+
				"etcd:\n  local:\n    dataDir: /var/lib/etcd\n",
			k.APIVersion, k.KubernetesVersion, k.ClusterName, k.Endpoint, k.ImageRepository)),
		configMap("kubelet-config", "kubelet", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\n"),
		configMap("kube-proxy", "config.conf", "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: "+k.ProxyMode+"\n"),
		configMap("coredns", "Corefile", ".:53 {\n    "+strings.Join(k.CorefilePlugins, "\n    ")+"\n}\n"),
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: kubeSystem, Name: "coredns"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "coredns", Image: registry + "coredns/coredns:" + k.DNSVersion}}},
				},
			},
		},
	}
}

// dropsStatus reports whether the server drops the status of such an object on creation.
func dropsStatus(object client.Object) bool {
	switch object.(type) {
	case *corev1.Pod, *policyv1.PodDisruptionBudget:
		return true
	}
	return false
}
