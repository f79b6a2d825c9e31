package agents

import (
	"fmt"
	"iter"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const templateHash = "5d8f7c9b6"

// Objects returns the API objects of a simulated cluster: nodes and pods about as large as real
// ones.
func Objects(s *cluster.Snapshot) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		namespaces := map[string]bool{"kube-system": true} // exists already
		for i := range s.Workloads {
			if name := s.Workloads[i].Namespace; !namespaces[name] {
				namespaces[name] = true
				if !yield(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}) {
					return
				}
			}
		}
		for i := range s.Nodes {
			if !yield(nodeOf(&s.Nodes[i])) {
				return
			}
		}
	}
}

// Contents returns the namespaced objects. Their namespaces must exist.
func Contents(s *cluster.Snapshot) iter.Seq[runtime.Object] {
	return func(yield func(runtime.Object) bool) {
		made := make([]int, len(s.Workloads))
		for i := range s.Nodes {
			for _, set := range s.Nodes[i].Pods {
				for range set.Count {
					made[set.Workload]++
					w := &s.Workloads[set.Workload]
					p := podOf(w, made[set.Workload], &s.Nodes[i])
					if !yield(p) || w.LocalVolume && !yield(diskOf(p)) {
						return
					}
				}
			}
		}
	}
}

func nodeOf(n *cluster.Node) *corev1.Node {
	out := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: maps.Clone(n.Labels), Annotations: map[string]string{
			"csi.volume.kubernetes.io/nodeid": `{"disk.csi.example.com":"` + n.Name + `"}`, "node.alpha.kubernetes.io/ttl": "0",
		}},
		Spec: corev1.NodeSpec{PodCIDR: "10.244.1.0/24", PodCIDRs: []string{"10.244.1.0/24"}, ProviderID: "metal://" + n.Name},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: n.UID, SystemUUID: n.UID, BootID: n.UID, KernelVersion: n.Kernel, OSImage: n.OSImage, ContainerRuntimeVersion: n.Runtime,
				KubeletVersion: n.Kubelet, OperatingSystem: n.OS, Architecture: n.Arch,
			},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.Addresses[0]}, {Type: corev1.NodeHostName, Address: n.Name}},
			Allocatable: corev1.ResourceList{
				"cpu":    *resource.NewMilliQuantity(n.Allocatable.MilliCPU, resource.DecimalSI),
				"memory": *resource.NewQuantity(n.Allocatable.Memory, resource.BinarySI), "pods": *resource.NewQuantity(n.Allocatable.Pods, resource.DecimalSI),
			},
		},
	}
	for _, t := range n.Taints {
		out.Spec.Taints = append(out.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	out.Status.Capacity = out.Status.Allocatable.DeepCopy()
	for _, kind := range []corev1.NodeConditionType{
		corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable, corev1.NodeReady,
	} {
		status := corev1.ConditionFalse
		if kind == corev1.NodeReady {
			status = corev1.ConditionTrue
		}
		out.Status.Conditions = append(out.Status.Conditions, corev1.NodeCondition{
			Type: kind, Status: status, Reason: "Kubelet" + string(kind), Message: "kubelet reports " + string(kind),
			LastHeartbeatTime: metav1.NewTime(n.CreatedAt), LastTransitionTime: metav1.NewTime(n.ReadySince),
		})
	}
	for i := range 50 { // as many as a kubelet reports
		out.Status.Images = append(out.Status.Images, corev1.ContainerImage{SizeBytes: int64(i+1) << 20, Names: []string{
			fmt.Sprintf("registry.example.com/team/image-%02d@sha256:%064x", i, i), fmt.Sprintf("registry.example.com/team/image-%02d:v1.2.%d", i, i),
		}})
	}
	return out
}

// podOf returns a workload's pod with this number.
func podOf(w *cluster.Workload, number int, n *cluster.Node) *corev1.Pod {
	name := fmt.Sprintf("%s-%s-%05d", w.Name, templateHash, number)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: name,
			Labels: map[string]string{"app.kubernetes.io/name": w.Name, "app.kubernetes.io/managed-by": "Helm", "pod-template-hash": templateHash},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "9090", "checksum/config": strings.Repeat("0123456789abcdef", 4),
			},
		},
		Spec: corev1.PodSpec{
			NodeName: n.Name, ServiceAccountName: "default",
			Containers: []corev1.Container{container("main", w.Request), container("sidecar", cluster.Resources{})},
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
			},
			Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: w.Name}},
			}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.244.1.7", PodIPs: []corev1.PodIP{{IP: "10.244.1.7"}}, HostIP: n.Addresses[0],
			ContainerStatuses: []corev1.ContainerStatus{running("main"), running("sidecar")},
		},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady, corev1.PodScheduled} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue})
	}
	if w.LocalData {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	if w.LocalVolume {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + name},
		}})
	}
	own(p, w, n)
	return p
}

// own makes the workload the owner of a pod.
func own(p *corev1.Pod, w *cluster.Workload, n *cluster.Node) {
	yes := true
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: w.Kind, Name: w.Name, UID: types.UID(w.Name), Controller: &yes}
	switch w.Kind {
	case "Deployment":
		owner.Kind, owner.Name = "ReplicaSet", w.Name+"-"+templateHash
	case "Job":
		owner.APIVersion = "batch/v1"
	case "Pod":
		p.Name = w.Name
		return
	case "Node":
		static := n.Static[w.Name]
		p.Name = w.Name + "-" + n.Name
		p.Labels, p.Annotations = map[string]string{"component": w.Name, "tier": "control-plane"}, map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
		p.Spec.Containers = []corev1.Container{{Name: w.Name, Image: static.Image, Command: []string{w.Name}}}
		for name, value := range static.Flags {
			p.Spec.Containers[0].Command = append(p.Spec.Containers[0].Command, "--"+name+"="+value)
		}
		p.Spec.Volumes, p.Spec.ServiceAccountName = nil, "" // a mirror pod refers to nothing
		return
	}
	if w.Name == "kube-proxy" {
		p.Labels["k8s-app"] = w.Name
		p.Spec.Containers[0].Image = "registry.k8s.io/kube-proxy:" + n.KubeProxy
	}
	p.OwnerReferences = []metav1.OwnerReference{owner}
}

func container(name string, requests cluster.Resources) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "registry.example.com/team/" + name + ":v1.2.3", Args: []string{"--config=/etc/app/config.yaml", "--listen=:8080"},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/app"}},
		ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)},
		}},
	}
	for i := range 8 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: fmt.Sprintf("https://service-%d.example.com/path", i)})
	}
	if requests.MilliCPU > 0 {
		c.Resources.Requests = corev1.ResourceList{
			"cpu": *resource.NewMilliQuantity(requests.MilliCPU, resource.DecimalSI), "memory": *resource.NewQuantity(requests.Memory, resource.BinarySI),
		}
	}
	return c
}

func running(name string) corev1.ContainerStatus {
	yes := true
	return corev1.ContainerStatus{
		Name: name, Ready: true, Started: &yes, Image: "registry.example.com/team/" + name + ":v1.2.3",
		ImageID:     fmt.Sprintf("registry.example.com/team/%s@sha256:%064x", name, len(name)),
		ContainerID: fmt.Sprintf("containerd://%064x", len(name)),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
}

// diskOf returns the local volume of a pod.
func diskOf(p *corev1.Pod) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.Namespace + "-" + p.Name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{"storage": resource.MustParse("10Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			ClaimRef:               &corev1.ObjectReference{Namespace: p.Namespace, Name: "data-" + p.Name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/disk"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{p.Spec.NodeName}},
				},
			}}}},
		},
	}
}

// Budget returns a budget with the status that the disruption controller would write.
func Budget(b *cluster.Budget) *policyv1.PodDisruptionBudget {
	most := intstr.Parse(b.MaxUnavailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &most, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": b.Name}},
		},
		Status: policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 1, ExpectedPods: b.Expected, CurrentHealthy: b.Healthy, DesiredHealthy: b.Desired, DisruptionsAllowed: b.Allowed,
		},
	}
}
