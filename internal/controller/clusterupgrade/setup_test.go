package clusterupgrade

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/refit-dev/refit/internal/engine/observe"
)

func TestANodeIsReconciledForMoreThanAHeartbeat(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*corev1.Node)
		enqueues bool
	}{
		"a heartbeat":  {func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Unix(2000, 0)) }, false},
		"new images":   {func(n *corev1.Node) { n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}} }, false},
		"not ready":    {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"a cordon":     {func(n *corev1.Node) { n.Spec.Unschedulable = true }, true},
		"a version":    {func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.3" }, true},
		"a label":      {func(n *corev1.Node) { n.Labels["pool"] = "batch" }, true},
		"joined again": {func(n *corev1.Node) { n.UID = "another" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			was := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "worker-1", UID: "uid", ResourceVersion: "1", Labels: map[string]string{}},
				Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
					Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.NewTime(time.Unix(1000, 0)),
				}}},
			}
			now := was.DeepCopy()
			now.ResourceVersion = "2"
			c.change(now)
			for _, n := range []*corev1.Node{was, now} {
				if _, err := observe.Trim(n); err != nil {
					t.Fatal(err)
				}
			}
			if got := nodeChanged(event.UpdateEvent{ObjectOld: was, ObjectNew: now}); got != c.enqueues {
				t.Errorf("it enqueues: %t", got)
			}
		})
	}
}
