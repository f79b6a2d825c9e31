package install

import (
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDeploymentsRunOnlyOnControlPlaneNodes(t *testing.T) {
	const controlPlane = "node-role.kubernetes.io/control-plane"
	pods := []*corev1.PodSpec{podsOf(t, controllerName), podsOf(t, componentsName)}
	for name, c := range map[string]struct {
		labels map[string]string
		taint  corev1.Taint
		want   bool
	}{
		"kubeadm's label and taint":     {map[string]string{controlPlane: ""}, corev1.Taint{Key: controlPlane, Effect: corev1.TaintEffectNoSchedule}, true},
		"another value":                 {map[string]string{controlPlane: "true"}, corev1.Taint{Key: controlPlane, Effect: corev1.TaintEffectNoSchedule}, true},
		"a taint that evicts":           {map[string]string{controlPlane: ""}, corev1.Taint{Key: controlPlane, Effect: corev1.TaintEffectNoExecute}, true},
		"a single node without a taint": {map[string]string{controlPlane: ""}, corev1.Taint{}, true},
		"a taint of the user":           {map[string]string{controlPlane: ""}, corev1.Taint{Key: "example.com/etcd", Effect: corev1.TaintEffectNoSchedule}, true},
		"cordoned":                      {map[string]string{controlPlane: ""}, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}, true},
		"unreachable":                   {map[string]string{controlPlane: ""}, corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}, false},
		"a worker":                      {map[string]string{"node-role.kubernetes.io/worker": ""}, corev1.Taint{}, false},
		"without labels":                {nil, corev1.Taint{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[string]string{"kubernetes.io/os": "linux"}
			maps.Copy(labels, c.labels)
			for _, pod := range pods {
				if got := selects(pod, labels) && tolerates(pod, c.taint); got != c.want {
					t.Errorf("the scheduler accepts the node for %s: %t", pod.Containers[0].Name, got)
				}
			}
		})
	}
}

// podsOf returns the pods of a Deployment.
func podsOf(t *testing.T, name string) *corev1.PodSpec {
	t.Helper()
	objects, err := Render(withComponents())
	must(t, err)
	for _, object := range objects {
		if object.GetKind() == kindDeployment && object.GetName() == name {
			deployment := &appsv1.Deployment{}
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment))
			return &deployment.Spec.Template.Spec
		}
	}
	t.Fatalf("there is no Deployment %s", name)
	return nil
}

// selects reports whether the pod's selector and required affinity match a node. It knows only the
// operator Exists.
func selects(pod *corev1.PodSpec, labels map[string]string) bool {
	for key, value := range pod.NodeSelector {
		if labels[key] != value {
			return false
		}
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return true
	}
	terms := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			_, has := labels[e.Key]
			return e.Operator != corev1.NodeSelectorOpExists || !has
		})
	})
}

func tolerates(pod *corev1.PodSpec, taint corev1.Taint) bool {
	return taint.Key == "" || slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
		return (t.Key == "" || t.Key == taint.Key) && t.Operator == corev1.TolerationOpExists && (t.Effect == "" || t.Effect == taint.Effect)
	})
}
