package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
)

// deciding collects a decision.
type deciding struct {
	*view
	actions []Action
	waiting []Wait
	busy    int // active nodes that progress without manual intervention

	leftBehindAtEnd string // the workers that joined and are not upgraded, once the operation ends

	step   *componentplan.Step // that the gates of components are about
	window *window             // of the workers that may be claimed
	slots  prefetchSlots       // of the nodes that may prefetch
}

func (d *deciding) act(kind ActionKind, n *cluster.Node, format string, args ...any) *Action {
	d.actions = append(d.actions, Action{Kind: kind, Node: n.Name, Reason: fmt.Sprintf(format, args...)})
	return &d.actions[len(d.actions)-1]
}

// wait records what the operation waits for. Of thousands of nodes that wait for the same thing, it
// names the first few and counts the rest.
func (d *deciding) wait(w Wait) {
	const few = 10
	if w == (Wait{}) || slices.Contains(d.waiting, w) {
		return
	}
	same := 0
	for i := range d.waiting {
		if d.waiting[i].Reason == w.Reason && d.waiting[i].ManualIntervention == w.ManualIntervention {
			if same++; same == few {
				d.waiting[i].More++
				return
			}
		}
	}
	d.waiting = append(d.waiting, w)
}

// command writes an order to a node's agent.
func (d *deciding) command(kind ActionKind, n *cluster.Node, hop int, why string) {
	a := d.act(kind, n, "%s", why)
	a.Release, a.Role, a.Attempt = d.plan.Hops[hop].Release, d.role(n, hop), d.op.Spec.Retry
	if a.KeepAddons = d.keepsAddons(hop); a.KeepAddons && kind == Apply && n.ControlPlane {
		a.Reason += "; add-ons are upgraded once workers have their images"
	}
	if kind == Apply {
		a.NotAfter = d.notAfter(n)
	}
	if order := d.order(n); order != nil && kind == Rollback {
		a.Release = &order.Spec.Release // also of a ClusterRelease that was deleted since
	}
	// A retry keeps the role of the first attempt: once the node's own API server is upgraded, the
	// node would no longer count as the first one.
	if order := d.order(n); order != nil && kind != Prefetch && d.ordered(n, hop) && order.Spec.Permit == refitv1alpha1.PermitApply {
		a.Role = order.Spec.Role
	}
}

// keepsAddons reports whether a hop does not upgrade the add-ons. They run on workers too, which
// have prefetched the images of the version they go to, not of the hops in between; the skew policy
// allows add-ons that are older than the API servers.
func (d *deciding) keepsAddons(hop int) bool {
	return hop < len(d.plan.Hops)-1 && d.workersHop(hop) != hop
}
