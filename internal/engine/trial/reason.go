package trial

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// reason returns why the Pod failed, from the best source: its container, the reason why that does
// not start, its Events, the kubelet.
func (t *attempt) reason(ctx context.Context) string {
	if t.created == nil {
		return "the Pod of a former trial is still terminating"
	}
	if message := terminationMessage(t.created); message != "" {
		return message
	}
	return cmp.Or(t.waiting, t.warning(ctx), podReason(t.created), "the kubelet reports no reason: check that it runs (`systemctl status kubelet`)")
}

// terminationMessage returns what the container wrote before it ended with an error. For a
// container that never ran, the kubelet reports an unknown state.
func terminationMessage(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.ExitCode != 0 && !ended.StartedAt.IsZero() {
			message := strings.TrimPrefix(strings.TrimSpace(ended.Message), "refit-agent: ")
			return cmp.Or(message, fmt.Sprintf("it exited with code %d (%s)", ended.ExitCode, ended.Reason))
		}
	}
	return ""
}

// waitingReason returns why the container does not start, unless it is just being created.
func waitingReason(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" {
			return joined(w.Reason, w.Message)
		}
	}
	return ""
}

// warning returns the last Warning about the Pod. Only there the kubelet reports that it has no
// network for it.
func (t *attempt) warning(ctx context.Context) string {
	selector := fields.Set{"involvedObject.uid": string(t.created.UID), "type": corev1.EventTypeWarning}.String()
	found, err := t.client.CoreV1().Events(Namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return ""
	}
	var last *corev1.Event
	for i := range found.Items {
		if e := &found.Items[i]; last == nil || lastSeen(e).After(lastSeen(last)) {
			last = e
		}
	}
	if last == nil {
		return ""
	}
	return joined(last.Reason, last.Message)
}

// lastSeen returns when an Event was last observed, whichever field has it.
func lastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}

// podReason returns the status of the Pod as a whole, such as a node without capacity for it.
func podReason(pod *corev1.Pod) string { return joined(pod.Status.Reason, pod.Status.Message) }

// maxMessage bounds a message of the kubelet. Its end is kept, which has the cause.
const maxMessage = 200

func joined(reason, message string) string {
	switch message = refitv1alpha1.ClipFront(message, maxMessage); {
	case reason == "":
		return message
	case message == "":
		return reason
	}
	return reason + ": " + message
}
