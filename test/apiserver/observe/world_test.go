//go:build apiserver

package observe

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver"
)

// secret is in every place of the world where a secret may be. It must never be in a Snapshot.
const secret = "sesame"

// world creates a cluster of two control plane nodes and a worker that covers everything in a
// Snapshot. cp-1 is the server itself. cp-2 is at other, where a server without the right
// certificate may listen.
func world(t *testing.T, s *apiserver.Server, other string) {
	t.Helper()
	s.Install(t, "../../../config/crd")
	s.Install(t, "testdata/world")
	own := strings.TrimPrefix(s.RESTConfig().Host, "https://")
	s.Load(t, 4, slices.Values(slices.Concat(nodes(), controlPlanePods("cp-1", own), controlPlanePods("cp-2", other), shopPods(), otherObjects(), helmObjects(t))))
	budget(t, s)
	refitObjects(t, s)
	s.Install(t, "testdata/late")
}

func nodes() []runtime.Object {
	var out []runtime.Object
	for _, name := range []string{"cp-1", "cp-2", "worker-1"} {
		n := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:        name,
				Labels:      map[string]string{"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "a"},
				Annotations: map[string]string{"note": secret + "-annotation"},
			},
			Status: corev1.NodeStatus{
				NodeInfo:    corev1.NodeSystemInfo{KubeletVersion: "v1.35.4", ContainerRuntimeVersion: "containerd://2.1.5", OperatingSystem: "linux", Architecture: "amd64"},
				Allocatable: corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("4Gi"), "pods": resource.MustParse("110")},
				Addresses:   []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.77"}, {Type: corev1.NodeHostName, Address: name}},
				Conditions: []corev1.NodeCondition{
					{Type: corev1.NodeReady, Status: corev1.ConditionTrue}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse},
				},
			},
		}
		if strings.HasPrefix(name, "cp-") {
			n.Labels["node-role.kubernetes.io/control-plane"] = ""
			n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
		} else {
			n.Spec.Unschedulable = true
			n.Annotations[refitv1alpha1.AnnotationCordonedBy] = "operation-uid"
			n.Annotations["cluster.x-k8s.io/machine"] = "worker-1-machine"
			n.Status.Conditions[1].Status = corev1.ConditionTrue
		}
		out = append(out, n)
	}
	return out
}

// pod returns a running pod. It has no owner unless change adds one.
func pod(namespace, name, node string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName: node,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/shop:v1", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: secret + "-environment"}},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
	change(p)
	return p
}

func ownedBy(kind, name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: "uid", Controller: &yes}}
}

func controlPlanePods(node, address string) []runtime.Object {
	host, _, _ := net.SplitHostPort(address)
	mirror := func(component, image string, args ...string) *corev1.Pod {
		return pod("kube-system", component+"-"+node, node, func(p *corev1.Pod) {
			p.Labels = map[string]string{"component": component, "tier": "control-plane"}
			p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash", "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": address}
			p.Spec.Containers[0] = corev1.Container{Name: component, Image: image, Command: append([]string{component}, args...)}
			p.Status.PodIP, p.Status.PodIPs = host, []corev1.PodIP{{IP: host}}
		})
	}
	return []runtime.Object{
		mirror("kube-apiserver", "registry.k8s.io/kube-apiserver:v1.35.4", "--feature-gates=InPlacePodVerticalScaling=true",
			"--etcd-servers=https://user:"+secret+"-flag@127.0.0.1", "--token-auth-file", secret+"-flag-file"),
		mirror("etcd", "registry.k8s.io/etcd:3.6.6-0", "--name="+node, "--initial-cluster-token="+secret+"-etcd"),
		pod("kube-system", "kube-proxy-"+node, node, func(p *corev1.Pod) {
			p.Labels["k8s-app"], p.OwnerReferences = "kube-proxy", ownedBy("DaemonSet", "kube-proxy")
			p.Spec.Containers[0].Image = "registry.k8s.io/kube-proxy:v1.35.4"
		}),
	}
}

func shopPods() []runtime.Object {
	web := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		return pod("shop", name, "worker-1", func(p *corev1.Pod) {
			p.Labels = map[string]string{"app": "web", "pod-template-hash": "5d8f"}
			p.OwnerReferences = ownedBy("ReplicaSet", "web-5d8f")
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("250m"), "memory": resource.MustParse("64Mi")}
			change(p)
		})
	}
	return []runtime.Object{
		web("web-5d8f-a", func(*corev1.Pod) {}),
		web("web-5d8f-b", func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }),
		web("web-5d8f-ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		pod("shop", "db-0", "worker-1", func(p *corev1.Pod) {
			p.OwnerReferences = ownedBy("StatefulSet", "db")
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"},
			}}}
		}),
		pod("shop", "by-hand", "", func(p *corev1.Pod) { p.Status.Phase, p.Status.Conditions = corev1.PodPending, nil }),
	}
}

func otherObjects() []runtime.Object {
	now, seconds, holder := metav1.NewMicroTime(time.Now()), int32(15), "cp-2"
	gone, autoscaler := metav1.NewMicroTime(time.Now().Add(-time.Hour)), "autoscaler-pod"
	return []runtime.Object{
		&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "plndr-cp-lock"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
		},
		&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "cluster-autoscaler"},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &autoscaler, LeaseDurationSeconds: &seconds, RenewTime: &gone},
		},
	}
}

func budget(t *testing.T, s *apiserver.Server) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	one := intstr.FromInt32(1)
	budgets := client.PolicyV1().PodDisruptionBudgets("shop")
	made, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	must(t, err)
	made.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: made.Generation, ExpectedPods: 2, CurrentHealthy: 1, DesiredHealthy: 1}
	_, err = budgets.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	must(t, err)
}

// helmObjects returns a release whose upgrade is stuck, and one that was never deployed.
func helmObjects(t *testing.T) []runtime.Object {
	t.Helper()
	return []runtime.Object{
		helmSecret(t, "cart", 1, "superseded", manifestOf("v0", "Forgotten", "old")),
		helmSecret(t, "cart", 2, "deployed", manifestOf("policy/v1beta1", "PodDisruptionBudget", "cart")+"---\n"+manifestOf("v1", "Secret", "cart")),
		helmSecret(t, "cart", 3, "pending-upgrade", manifestOf("policy/v1", "PodDisruptionBudget", "cart")),
		helmSecret(t, "mail", 1, "failed", manifestOf("v1", "Service", "mail-1")),
		helmSecret(t, "mail", 2, "failed", manifestOf("v1", "Service", "mail-2")),
	}
}

func manifestOf(apiVersion, kind, name string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\ndata:\n  password: %s-manifest\n", apiVersion, kind, name, secret)
}

func helmSecret(t *testing.T, name string, revision int, status, manifest string) *corev1.Secret {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	must(t, json.NewEncoder(writer).Encode(map[string]any{
		"name": name, "manifest": manifest, "config": map[string]string{"password": secret + "-values"},
		"chart": map[string]any{"metadata": map[string]string{"name": name, "version": "1.2.3"}, "values": secret + "-chart"},
	}))
	must(t, writer.Close())
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision),
			Labels: map[string]string{"owner": "helm", "name": name, "version": fmt.Sprint(revision), "status": status},
		},
		Type: "helm.sh/release.v1",
		Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
}

// refitObjects creates Refit's own objects: a report of worker-1 and its failed upgrade, a valid
// and an invalid ClusterRelease, and two operations.
func refitObjects(t *testing.T, s *apiserver.Server) {
	t.Helper()
	add := func(kind, name string, spec, status map[string]any) {
		t.Helper()
		client, err := dynamic.NewForConfig(s.RESTConfig())
		must(t, err)
		objects := client.Resource(schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: strings.ToLower(kind) + "s"})
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "refit.dev/v1alpha1", "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec,
		}}
		made, err := objects.Create(t.Context(), object, metav1.CreateOptions{})
		must(t, err)
		if status != nil {
			made.Object["status"] = status
			_, err = objects.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
			must(t, err)
		}
	}
	add("NodeReport", "worker-1", map[string]any{"request": int64(4)}, map[string]any{"answered": int64(4), "hostname": "worker-1"})
	add("NodeUpgrade", "worker-1", map[string]any{
		"format": int64(1), "sequence": int64(1), "epoch": int64(1), "permit": "Apply", "role": "Worker",
		"nodeUID": "uid", "machineID": strings.Repeat("0", 32),
		"operation": map[string]any{"name": "mine", "uid": "uid"}, "release": map[string]any{"name": "good", "digest": "sha256:" + strings.Repeat("0", 64)},
	}, map[string]any{"error": map[string]any{
		"at": "2026-03-02T10:00:00Z", "class": "ManualInterventionRequired", "reason": "DiskFull", "message": "no room", "remedy": "make room", "logTail": secret + "-log",
	}})
	add("ClusterRelease", "good", map[string]any{"kubernetes": "v1.36.3", "envelope": envelopeOf(t, "v1.36.3")}, nil)
	add("ClusterRelease", "lying", map[string]any{"kubernetes": "v1.36.3", "envelope": envelopeOf(t, "v1.36.2")}, nil)
	add("ClusterUpgrade", "former", map[string]any{"target": map[string]any{"kubernetes": "v1.35.4"}}, nil)
	add("ClusterUpgrade", "mine", map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}}, nil)
	add("ClusterUpgrade", "other", map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}}, nil)
	add("ClusterUpgrade", "over", map[string]any{"target": map[string]any{"kubernetes": "v1.35.4"}}, map[string]any{
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}},
	})
}

func envelopeOf(t *testing.T, version string) string {
	t.Helper()
	payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: version, Etcd: "3.6.8"})
	must(t, err)
	envelope, err := json.Marshal(map[string]any{
		"payloadType": refitv1alpha1.ReleasePayloadType, "payload": payload, "signatures": []map[string]string{{"sig": "c2lnbmF0dXJl"}},
	})
	must(t, err)
	return base64.StdEncoding.EncodeToString(envelope)
}
