package install

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func terminated(code int32, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message}}}
}

var running = corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Ready: true}

func pod(init, container corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: map[string]string{annotationTemplate: "new"}},
		Spec:       corev1.PodSpec{NodeName: "n"},
		Status:     corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{init}, ContainerStatuses: []corev1.ContainerStatus{container}},
	}
}

func node(ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: ready, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.",
	}}}}
}

func TestANodeWithoutAMachineIsNotWaitedFor(t *testing.T) {
	turin := node(corev1.ConditionTrue)
	turin.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "v1.35.4", OperatingSystem: "linux", Architecture: "amd64"}
	if got := nodesOf([]*corev1.Node{turin}, nil, "new"); len(got) > 0 {
		t.Errorf("the progress is %+v", got)
	}
}

func TestStateOfANodeFollowsFromItsPod(t *testing.T) {
	busy := "refit-agent: an operation is in progress on this host"
	crashes := waiting("CrashLoopBackOff", "back-off 10s")
	crashes.LastTerminationState = terminated(1, busy).State
	scheduled := pod(waiting("", ""), waiting("", ""))
	scheduled.Status = corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "insufficient cpu"}}}
	evicted := pod(terminated(0, ""), running)
	evicted.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "disk pressure"}
	old := pod(terminated(0, ""), running)
	old.Annotations[annotationTemplate] = "old"
	leaving := pod(terminated(0, ""), running)
	leaving.DeletionTimestamp = &metav1.Time{}
	initializing := waiting("PodInitializing", "")
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		ready corev1.ConditionStatus
		want  string
	}{
		"no pod yet":                                  {nil, corev1.ConditionTrue, "Waiting"},
		"a pod of a former template":                  {old, corev1.ConditionTrue, "Waiting"},
		"a pod that terminates":                       {leaving, corev1.ConditionTrue, "Waiting"},
		"a pod without status":                        {&corev1.Pod{ObjectMeta: old.ObjectMeta, Spec: old.Spec}, corev1.ConditionTrue, "Waiting"},
		"a pod whose image is pulled":                 {pod(initializing, initializing), corev1.ConditionTrue, "Pulling"},
		"a pod whose image is missing":                {pod(waiting("ImagePullBackOff", "not found"), initializing), corev1.ConditionTrue, "Failing ImagePullBackOff: not found"},
		"a pod that changes the host":                 {pod(running, initializing), corev1.ConditionTrue, "Working"},
		"a pod that failed":                           {pod(terminated(1, busy), initializing), corev1.ConditionTrue, "Failing Error: " + busy},
		"a pod that is restarted":                     {pod(crashes, initializing), corev1.ConditionTrue, "Failing CrashLoopBackOff: " + busy},
		"a pod that finished its init container":      {pod(terminated(0, ""), initializing), corev1.ConditionTrue, "Pulling"},
		"a pod that is done":                          {pod(terminated(0, ""), running), corev1.ConditionTrue, "Done"},
		"a pod that cannot be scheduled":              {scheduled, corev1.ConditionTrue, "Failing Unschedulable: insufficient cpu"},
		"a pod that was evicted":                      {evicted, corev1.ConditionTrue, "Failing Evicted: disk pressure"},
		"a node that is not ready":                    {nil, corev1.ConditionUnknown, "Unreachable NodeStatusUnknown: Kubelet stopped posting node status."},
		"a node that became not ready before the end": {pod(running, initializing), corev1.ConditionUnknown, "Unreachable NodeStatusUnknown: Kubelet stopped posting node status."},
		"a node that became not ready after the end":  {pod(terminated(0, ""), running), corev1.ConditionUnknown, "Done"},
	} {
		t.Run(name, func(t *testing.T) {
			var pods []*corev1.Pod
			if c.pod != nil {
				c.pod.Annotations = map[string]string{annotationTemplate: "new"}
				if name == "a pod of a former template" {
					c.pod.Annotations[annotationTemplate] = "old"
				}
				pods = append(pods, c.pod)
			}
			got := nodesOf([]*corev1.Node{node(c.ready)}, pods, "new")
			if len(got) != 1 || strings.TrimSpace(fmt.Sprint(got[0].State, " ", got[0].Why)) != c.want {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

func TestProgressIsCompleteWhenEveryReadyNodeIsDone(t *testing.T) {
	nodes := func(states ...State) (out []NodeProgress) {
		for _, s := range states {
			out = append(out, NodeProgress{State: s})
		}
		return out
	}
	for name, c := range map[string]struct {
		p    Progress
		want bool
	}{
		"no nodes":                        {Progress{}, true},
		"all are done":                    {Progress{Nodes: nodes(Done, Done)}, true},
		"one is unreachable":              {Progress{Nodes: nodes(Done, Unreachable)}, true},
		"one is waiting":                  {Progress{Nodes: nodes(Done, Waiting)}, false},
		"one fails":                       {Progress{Nodes: nodes(Failing)}, false},
		"the controller is not available": {Progress{Nodes: nodes(Done), Controller: &ControllerProgress{Wanted: 2, Available: 1}}, false},
		"the controller is available":     {Progress{Nodes: nodes(Done), Controller: &ControllerProgress{Wanted: 2, Available: 2}}, true},
		"refit-components is not": {Progress{
			Nodes: nodes(Done), Controller: &ControllerProgress{Wanted: 2, Available: 2}, Components: &ControllerProgress{Wanted: 2, Available: 1},
		}, false},
	} {
		if got := c.p.complete(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The status of a Deployment is of the former template until its controller has observed the new
// one.
func TestControllerIsAvailableWhenItsCurrentTemplateIs(t *testing.T) {
	deployment := func(seen int64, template string) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}}
		d.Spec.Template.Annotations = map[string]string{annotationTemplate: template}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: seen, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}
		return d
	}
	rolling := deployment(2, "new")
	rolling.Status.UpdatedReplicas = 1
	for name, c := range map[string]struct {
		d    *appsv1.Deployment
		want int
	}{
		"none yet": {nil, 0}, "not observed": {deployment(1, "new"), 0}, "of a former template": {deployment(2, "old"), 0},
		"rolling out": {rolling, 1}, "available": {deployment(2, "new"), 2},
	} {
		if got := controllerOf(c.d, nil, "new"); got.Available != c.want || got.Wanted < 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSummaryKeepsTheEndOfALongMessage(t *testing.T) {
	got := summary("Error", strings.Repeat("x ", 400)+"\nrefit-agent: the disk is full")
	if !strings.HasSuffix(got, "refit-agent: the disk is full") || !strings.HasPrefix(got, "Error: …") || len([]rune(got)) > maxMessage+10 {
		t.Errorf("%q", got)
	}
}
