package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// beginChange starts the change of a host once no other package manager runs on it and the
// operation permits it. A host that was changed
// needs no permission.
func (m *machine) beginChange(w *world) {
	if w.now.Before(m.agent.lockedUntil) {
		m.agent.unpermitted = true // it tries again at the next tick
		return
	}
	failure := node.Permission(&node.Upgrade{
		Operation: m.agent.order.Operation, Release: m.agent.order.Release, NodeName: m.name, Role: m.agent.order.Role,
		To: w.payload(m.agent.order.Release.Name).Kubernetes,
	}, w.live(m))
	switch {
	case m.agent.old != nil || failure == nil:
		m.agent.unpermitted = false
		if m.agent.old == nil {
			m.agent.old = map[string]string{stepEtcd: m.etcd.version, stepServer: m.apiServer.version, stepKubelet: m.kubelet.version}
		}
		m.startStep(w)
	case failure.Class == refitv1alpha1.FailureTransient:
		m.agent.unpermitted = true // it checks again at the next tick
	default:
		m.agent.unpermitted = false
		m.fail(w, stepKubelet, failure.Message)
	}
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
