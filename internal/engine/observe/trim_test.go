package observe

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestTrimmedNodeHasTheSameFacts(t *testing.T) {
	n := node("worker-1", "11", "v1.35.4")
	n.Labels = map[string]string{labelControlPlane: "", corev1.LabelTopologyZone: "a"}
	n.Annotations = map[string]string{refitv1alpha1.AnnotationCordonedBy: "operation", refitv1alpha1.AnnotationProtectedBy: "operation", "others": "much"}
	n.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0))
	n.Spec = corev1.NodeSpec{Unschedulable: true, ProviderID: "metal://worker-1", Taints: []corev1.Taint{{Key: "key", Value: "value", Effect: corev1.TaintEffectNoSchedule}}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{
		MachineID: "machine", BootID: "boot", KernelVersion: "6.1", OSImage: "Debian", ContainerRuntimeVersion: "containerd://2.1.5", KubeletVersion: "v1.35.4",
		OperatingSystem: "linux", Architecture: "amd64",
	}
	n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
	now := metav1.NewTime(time.Unix(2000, 0))
	n.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is ready", LastHeartbeatTime: now, LastTransitionTime: now},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue, LastHeartbeatTime: now},
	}
	whole := Node(n.DeepCopy())
	if _, err := Trim(&n); err != nil {
		t.Fatal(err)
	}
	if trimmed := Node(&n); !reflect.DeepEqual(trimmed, whole) {
		t.Errorf("trimmed %+v, whole %+v", trimmed, whole)
	}
	if n.Status.Images != nil || len(n.Annotations) != 2 || n.Spec.ProviderID != "" || !n.Status.Conditions[0].LastHeartbeatTime.IsZero() {
		t.Errorf("it kept %+v", n)
	}
}
