package object

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The bounds of what is read and reported about pods.
const (
	podsRead        = 100
	workloadsRead   = 5
	maxPodMessage   = 300
	messageEllipsis = "…"
)

// PodsOf returns the selector of the pods of a workload, nil for other objects.
func PodsOf(o *unstructured.Unstructured) labels.Selector {
	if !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job"}, o.GetKind()) {
		return nil
	}
	content, found, err := unstructured.NestedMap(o.Object, "spec", "selector")
	if err != nil || !found {
		return nil
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selector); err != nil {
		return nil
	}
	match, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil || match.Empty() {
		return nil
	}
	return match
}

// podProblem returns why the newest pod of a workload that has a problem does not become ready,
// empty if none has. Pods that cannot be listed have no known problem.
func (e *Editor) podProblem(ctx context.Context, workload *unstructured.Unstructured) string {
	selector := PodsOf(workload)
	if selector == nil {
		return ""
	}
	var pods corev1.PodList
	if err := e.Client.List(ctx, &pods, client.InNamespace(workload.GetNamespace()), client.MatchingLabelsSelector{Selector: selector},
		client.Limit(podsRead)); err != nil {
		return ""
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range pods.Items {
		pod := &pods.Items[i]
		if problem := problemOf(pod); problem != "" && pod.DeletionTimestamp == nil {
			return fmt.Sprintf("Pod %s/%s: %s", pod.Namespace, pod.Name, clipPodMessage(problem))
		}
	}
	return ""
}

// problemOf returns why a pod does not become ready.
func problemOf(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return join(c.Reason, c.Message)
		}
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting, ended := c.State.Waiting, c.LastTerminationState.Terminated
		if c.State.Terminated != nil && c.State.Terminated.ExitCode != 0 {
			ended = c.State.Terminated
		}
		switch {
		case c.Ready:
		case ended != nil && ended.ExitCode != 0: // it restarts, so it may run at the moment
			reason := ended.Reason
			if waiting != nil && waiting.Reason != "" {
				reason = waiting.Reason
			}
			return join(reason, fmt.Sprintf("container %s exited with code %d", c.Name, ended.ExitCode), ended.Message)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
			message := waiting.Message
			if !strings.Contains(message, c.Image) {
				message = join(message, c.Image)
			}
			return join(waiting.Reason, message)
		}
	}
	return ""
}

// join joins the parts of a message that are not empty, on one line.
func join(parts ...string) string {
	var out []string
	for _, part := range parts {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			out = append(out, part)
		}
	}
	return strings.Join(out, ": ")
}

// clipPodMessage keeps both ends of a message: the beginning names the image, and the end the
// cause.
func clipPodMessage(message string) string {
	runes := []rune(message)
	if len(runes) <= maxPodMessage {
		return message
	}
	half := maxPodMessage / 2
	return string(runes[:half]) + messageEllipsis + string(runes[len(runes)-half:])
}
