package install

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// State is the state of a pod on its node.
type State string

// The states.
const (
	Waiting     State = "Waiting" // there is no pod of the current template yet
	Pulling     State = "Pulling" // its image is pulled, or it is starting
	Working     State = "Working" // it changes the host
	Done        State = "Done"
	Failing     State = "Failing"     // it failed and is retried
	Unreachable State = "Unreachable" // the node is not ready, so its host is unreachable
)

// NodeProgress is the progress on one node.
type NodeProgress struct {
	Node  string
	State State
	Why   string
}

// PodProgress is the progress of one pod of a Deployment.
type PodProgress struct {
	Pod, Node string
	State     State
	Why       string
}

// Progress is the progress on all nodes, and of the controller and refit-components.
type Progress struct {
	Nodes []NodeProgress // by name
	// Controller and Components are nil if they are not installed.
	Controller, Components *ControllerProgress
}

// deployments returns the progress of those that are installed.
func (p Progress) deployments() []*ControllerProgress {
	return slices.DeleteFunc([]*ControllerProgress{p.Controller, p.Components}, func(d *ControllerProgress) bool { return d == nil })
}

// ControllerProgress is the progress of the controller, or of refit-components.
type ControllerProgress struct {
	Wanted, Available int
	Pods              []PodProgress // by name
}

// done counts the nodes that are done, and the reachable ones.
func (p Progress) done() (done, of int) {
	for _, n := range p.Nodes {
		if n.State == Done {
			done++
		}
		if n.State != Unreachable {
			of++
		}
	}
	return done, of
}

// complete reports whether nothing is left to wait for.
func (p Progress) complete() bool {
	done, of := p.done()
	return done == of && !slices.ContainsFunc(p.deployments(), func(d *ControllerProgress) bool { return d.Available < d.Wanted })
}

// nodesOf returns the progress of nodes from the pods of one template.
func nodesOf(nodes []*corev1.Node, pods []*corev1.Pod, template string) []NodeProgress {
	byNode := map[string]*corev1.Pod{}
	for _, pod := range pods {
		if pod.Annotations[annotationTemplate] == template && pod.DeletionTimestamp == nil {
			byNode[pod.Spec.NodeName] = pod
		}
	}
	out := make([]NodeProgress, 0, len(nodes))
	for _, node := range nodes {
		if virtual(node) {
			continue
		}
		p := NodeProgress{Node: node.Name, State: Waiting}
		if pod := byNode[node.Name]; pod != nil {
			p.State, p.Why = stateOf(pod)
		}
		if why, ready := readiness(node); !ready && p.State != Done {
			p.State, p.Why = Unreachable, why
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b NodeProgress) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// controllerOf returns the progress of a Deployment. One whose controller has not
// observed the current template has no available pods of it.
func controllerOf(deployment *appsv1.Deployment, pods []*corev1.Pod, template string) *ControllerProgress {
	out := &ControllerProgress{Wanted: 1}
	if deployment == nil {
		return out
	}
	if deployment.Spec.Replicas != nil {
		out.Wanted = int(*deployment.Spec.Replicas)
	}
	if s := deployment.Status; s.ObservedGeneration >= deployment.Generation && deployment.Spec.Template.Annotations[annotationTemplate] == template {
		out.Available = int(min(s.UpdatedReplicas, s.AvailableReplicas))
	}
	for _, pod := range pods {
		if pod.Annotations[annotationTemplate] == template && pod.DeletionTimestamp == nil {
			p := PodProgress{Pod: pod.Name, Node: pod.Spec.NodeName}
			p.State, p.Why = stateOf(pod)
			out.Pods = append(out.Pods, p)
		}
	}
	slices.SortFunc(out.Pods, func(a, b PodProgress) int { return cmp.Compare(a.Pod, b.Pod) })
	return out
}

// virtual reports whether a node has no machine on which an agent could run.
func virtual(node *corev1.Node) bool {
	info := &node.Status.NodeInfo
	return cluster.IsVirtual(info.KubeletVersion, info.ContainerRuntimeVersion, info.KernelVersion)
}

func readiness(node *corev1.Node) (why string, ready bool) {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return summary(c.Reason, c.Message), c.Status == corev1.ConditionTrue
		}
	}
	return "its kubelet has not reported a status yet", false
}

// stateOf derives the state of a pod from its containers, in the order in which they run.
func stateOf(pod *corev1.Pod) (State, string) {
	if pod.Status.Phase == corev1.PodFailed {
		return Failing, summary(pod.Status.Reason, pod.Status.Message)
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return Failing, summary(c.Reason, c.Message)
		}
	}
	for _, c := range pod.Status.InitContainerStatuses {
		if ended := c.State.Terminated; ended == nil || ended.ExitCode != 0 {
			return containerState(c)
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if !c.Ready {
			return containerState(c)
		}
	}
	if len(pod.Status.ContainerStatuses) == 0 {
		return Waiting, ""
	}
	return Done, ""
}

// starting are the waiting reasons of a container that has not started yet.
var starting = []string{"", "PodInitializing", "ContainerCreating"}

func containerState(c corev1.ContainerStatus) (State, string) {
	switch s := c.State; {
	case s.Running != nil:
		return Working, ""
	case s.Terminated != nil:
		return Failing, summary(s.Terminated.Reason, s.Terminated.Message)
	case s.Waiting == nil:
		return Waiting, ""
	case slices.Contains(starting, s.Waiting.Reason):
		return Pulling, ""
	// Its last message explains more than the back-off.
	case c.LastTerminationState.Terminated != nil:
		return Failing, summary(s.Waiting.Reason, c.LastTerminationState.Terminated.Message)
	default:
		return Failing, summary(s.Waiting.Reason, s.Waiting.Message)
	}
}

// maxMessage is the maximum length of a message in a line of progress.
const maxMessage = 300

// summary returns a reason and its message in one line. It keeps the end of a long message, which
// has the cause.
func summary(reason, message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if runes := []rune(message); len(runes) > maxMessage {
		message = "…" + string(runes[len(runes)-maxMessage:])
	}
	switch {
	case message == "":
		return reason
	case reason == "":
		return message
	}
	return reason + ": " + message
}
