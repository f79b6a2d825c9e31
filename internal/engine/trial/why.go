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

// why says why the Pod did not end well, in the words of whoever knows best: what ran in it, whoever was to start that, its Events, the kubelet.
func (t *trying) why(ctx context.Context) string {
	if t.made == nil {
		return "the Pod of a former trial does not go"
	}
	if said := saidAtTheEnd(t.made); said != "" {
		return said
	}
	return cmp.Or(t.waiting, t.warning(ctx), endOf(t.made), "nobody says why it does not start; see whether the kubelet runs")
}

// saidAtTheEnd is what the program wrote before it ended with an error. Of a container that never ran the kubelet says that it is unknown.
func saidAtTheEnd(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.ExitCode != 0 && !ended.StartedAt.IsZero() {
			said := strings.TrimPrefix(strings.TrimSpace(ended.Message), "refit-agent: ")
			return cmp.Or(said, fmt.Sprintf("it ended with code %d (%s)", ended.ExitCode, ended.Reason))
		}
	}
	return ""
}

// waitingFor is why the container does not start, if that is more than that it is about to.
func waitingFor(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		if w := pod.Status.ContainerStatuses[i].State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" {
			return joined(w.Reason, w.Message)
		}
	}
	return ""
}

// warning is the last Warning about the Pod. Only there a kubelet tells of a network that it could not get.
func (t *trying) warning(ctx context.Context) string {
	about := fields.Set{"involvedObject.uid": string(t.made.UID), "type": corev1.EventTypeWarning}.String()
	found, err := t.client.CoreV1().Events(Namespace).List(ctx, metav1.ListOptions{FieldSelector: about})
	if err != nil {
		return ""
	}
	var last *corev1.Event
	for i := range found.Items {
		if e := &found.Items[i]; last == nil || heard(e).After(heard(last)) {
			last = e
		}
	}
	if last == nil {
		return ""
	}
	return joined(last.Reason, last.Message)
}

// heard is when an Event was last told, in whichever way it was.
func heard(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}

// endOf is what the kubelet says of the Pod as a whole, as that there is no room for it.
func endOf(pod *corev1.Pod) string { return joined(pod.Status.Reason, pod.Status.Message) }

// room is how much of a kubelet's message is kept: its end, where the cause is. Before it there are names of sandboxes, and who called whom.
const room = 200

func joined(reason, message string) string {
	switch message = refitv1alpha1.ClipFront(message, room); {
	case reason == "":
		return message
	case message == "":
		return reason
	}
	return reason + ": " + message
}
