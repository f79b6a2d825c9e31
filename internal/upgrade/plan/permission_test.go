package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// beginChange starts the change of a host once no other package manager runs on it and the
// operation permits it. A host that was changed needs no permission.
func (m *machine) beginChange(w *world) {
	if w.now.Before(m.agent.lockedUntil) {
		m.await(w, refitv1alpha1.ReasonStepWaiting, "another package manager runs on this host")
		return
	}
	failure := node.Permission(&node.Upgrade{
		Operation: m.agent.order.Operation, Release: m.agent.order.Release, NodeName: m.name, Role: m.agent.order.Role,
		To: w.payload(m.agent.order.Release.Name).Kubernetes,
	}, w.live(m))
	if failure == nil && m.agent.order.NotAfter != nil && w.now.After(m.agent.order.NotAfter.Time) { // it reads the clock of the API servers
		failure = node.Transient("WindowClosing", nil, "Nothing to do", "the change had to start by %s", clock(m.agent.order.NotAfter.Time))
	}
	switch {
	case m.agent.old != nil || failure == nil:
		m.await(w, "", "")
		if m.agent.old == nil {
			w.checkStart(m)
			m.agent.old = map[string]string{stepEtcd: m.etcd.version, stepServer: m.apiServer.version, stepKubelet: m.kubelet.version}
		}
		m.startStep(w)
	case failure.Class == refitv1alpha1.FailureTransient:
		m.await(w, refitv1alpha1.ReasonPermissionWaiting, failure.Text())
	default:
		m.await(w, "", "")
		m.fail(w, stepKubelet, failure.Message)
	}
}

// await reports what the agent waits for. It checks again at the next tick.
func (m *machine) await(w *world, reason, what string) {
	was := meta.FindStatusCondition(m.agent.status.Conditions, refitv1alpha1.ConditionWaiting)
	if m.agent.unpermitted = what != ""; !m.agent.unpermitted && was == nil || was != nil && was.Message == what {
		return
	}
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) {
		s.Conditions = slices.Clone(s.Conditions) // observations share it
		if what == "" {
			meta.RemoveStatusCondition(&s.Conditions, refitv1alpha1.ConditionWaiting)
			return
		}
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: refitv1alpha1.ConditionWaiting, Status: metav1.ConditionTrue, Reason: reason, Message: what,
			LastTransitionTime: *stamp(m.clock(w)),
		})
	})
}

// live is what an agent reads before the first change.
func (w *world) live(m *machine) node.Live {
	op := &refitv1alpha1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: w.op.Name, UID: types.UID(w.op.UID)}, Spec: w.op.Spec,
		Status: refitv1alpha1.ClusterUpgradeStatus{Active: w.op.Active, Plan: w.op.Plan},
	}
	target := w.op.Spec.Target.Kubernetes
	if name := w.op.Spec.Target.Release; name != "" {
		target = w.payload(name).Kubernetes
	}
	return node.Live{Operation: op, Target: target, Labels: m.labels}
}
