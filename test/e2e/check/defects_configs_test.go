//go:build e2e

package check

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func configDefects() []defect {
	const kubeadm = "ConfigMap kube-system/kubeadm-config"
	return []defect{
		{
			name:   "a removed feature gate of the API server",
			faults: []fault{edited(kubeadmConfig, argument("apiServer", "feature-gates", "MemoryManager=true"))},
			want:   []want{{check: "RemovedFeatureGate", object: kubeadm, says: "MemoryManager=true"}},
		},
		{
			name:   "a feature gate that the target locks to another value",
			faults: []fault{edited(kubeadmConfig, argument("apiServer", "feature-gates", "ImageVolume=false"))},
			want:   []want{{check: "RemovedFeatureGate", object: kubeadm, says: "ImageVolume=false"}},
		},
		{
			name:   "a removed feature gate of the scheduler",
			faults: []fault{edited(kubeadmConfig, argument("scheduler", "feature-gates", "TopologyAwareHints=true"))},
			want:   []want{{check: "RemovedFeatureGate", object: kubeadm, says: "TopologyAwareHints=true"}},
		},
		{
			name:   "a removed feature gate of all kubelets",
			faults: []fault{edited(kubeletConfig, gate("HonorPVReclaimPolicy"))},
			want:   []want{{check: "RemovedFeatureGate", object: "ConfigMap kube-system/kubelet-config", says: "HonorPVReclaimPolicy"}},
		},
		{
			name:   "a removed feature gate of kube-proxy",
			faults: []fault{edited(proxyConfig, gate("ServiceTrafficDistribution"))},
			want:   []want{{check: "RemovedFeatureGate", object: "ConfigMap kube-system/kube-proxy", says: "ServiceTrafficDistribution"}},
		},
		{
			name:   "a removed version in runtime-config",
			faults: []fault{edited(kubeadmConfig, argument("apiServer", "runtime-config", "scheduling.k8s.io/v1alpha1=true"))},
			want:   []want{{check: "RemovedRuntimeConfig", object: kubeadm, says: "scheduling.k8s.io/v1alpha1"}},
		},
		{
			name:   "a version in runtime-config that is accepted still, and not any more",
			faults: []fault{edited(kubeadmConfig, argument("apiServer", "runtime-config", "autoscaling/v2beta2=true"))},
			want:   []want{{check: "RemovedRuntimeConfig", object: kubeadm, says: "autoscaling/v2beta2"}},
		},
		{
			name:   "an admission plugin that nobody knows",
			faults: []fault{edited(kubeadmConfig, argument("apiServer", "enable-admission-plugins", "NodeRestriction,ImageFancier"))},
			want:   []want{{check: "RemovedAdmissionPlugin", object: kubeadm, says: "ImageFancier", weighs: warn}},
		},
		{
			name:   "a flag that is removed two hops on",
			to:     newest,
			faults: []fault{edited(kubeadmConfig, argument("controllerManager", "concurrent-service-syncs", "2"))},
			want:   []want{{check: "RemovedComponentFlag", object: kubeadm, says: "concurrent-service-syncs"}},
		},
		{
			name:   "a controller that is removed two hops on",
			to:     newest,
			faults: []fault{edited(kubeadmConfig, argument("controllerManager", "controllers", "*,-service-lb-controller"))},
			want:   []want{{check: "RemovedController", object: kubeadm, says: "service-lb-controller"}},
		},
		{
			name:   "a feature gate of kubeadm that the target's does not know",
			faults: []fault{edited(kubeadmConfig, gate("ControlPlaneKubeletLocalMode"))},
			want:   []want{{check: "KubeadmGateInvalid", object: kubeadm, says: "ControlPlaneKubeletLocalMode"}},
		},
		{
			name:   "a control plane without root",
			faults: []fault{edited(kubeadmConfig, gate("RootlessControlPlane"))},
			want:   []want{{check: "KubeadmGateInvalid", object: kubeadm, says: "RootlessControlPlane"}},
		},
		{
			name:   "a configuration that the target's kubeadm cannot read",
			faults: []fault{edited(kubeadmConfig, set("apiVersion", "kubeadm.k8s.io/v1beta2"))},
			want:   []want{{check: "KubeadmConfigTooOld", object: kubeadm}},
		},
		{
			name:   "a configuration of another version",
			faults: []fault{edited(kubeadmConfig, set("kubernetesVersion", "v1.35.1"))},
			want:   []want{{check: "KubeadmVersionDiffers", object: kubeadm, weighs: warn}},
		},
		{
			name:   "no configuration of kubeadm",
			faults: []fault{lost(kubeadmConfig[0])},
			want:   []want{{check: "KubeadmConfigMissing", object: kubeadm}},
			alone:  "the defects in this configuration would be lost with it",
		},
		{
			name: "a plugin of CoreDNS that kubeadm cannot bring along",
			faults: []fault{edited(dnsConfig, func(text string) (string, error) {
				return strings.Replace(text, "    errors\n", "    errors\n    any\n", 1), nil
			})},
			want: []want{{check: "CorefilePluginUnknown", object: "ConfigMap kube-system/coredns"}},
		},
		{
			name:   "kube-proxy in a mode that is about to go",
			faults: []fault{edited(proxyConfig, set("mode", "ipvs"))},
			want:   []want{{check: "IPVSMode", object: "ConfigMap kube-system/kube-proxy", weighs: warn}},
		},
	}
}

// lost returns a fault that deletes a ConfigMap of kube-system.
func lost(name string) fault {
	var saved *corev1.ConfigMap
	return fault{
		seed: func(ctx context.Context, b *bed) (err error) {
			maps := b.client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
			if saved, err = maps.Get(ctx, name, metav1.GetOptions{}); err != nil {
				return err
			}
			return maps.Delete(ctx, name, metav1.DeleteOptions{})
		},
		restore: func(ctx context.Context, b *bed) error {
			again := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: saved.Namespace, Labels: saved.Labels}, Data: saved.Data}
			_, err := b.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Create(ctx, again, metav1.CreateOptions{})
			return err
		},
	}
}
