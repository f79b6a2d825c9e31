package plan

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// The invariants are checked on the true state of the world, at every effect:
//
//	I1  the control plane: one node at a time, and every other one healthy
//	I2  no more workers than maxUnavailable
//	I3  the version skew policy
//	I4  no pod is disrupted but by a drain that respects its budget, unless the policy allows it
//	I6  an order names what it installs
//	I8  no operation waits in silence
//	I13 nothing is claimed, drained or changed outside the maintenance window
//	I12 a component changes alone, never beside a control plane node, and before one that needs it
//	I11 no control plane changes before a backup of its hop is proven, unless that is waived
//
// Only the fences bound what a controller with an old view may do, so what concerns the rest of the
// cluster is required of a controller with a current view only.

// grace is how long reports may lag behind the truth when a decision uses them.
const grace = maxReportAge + 4*tick

func (w *world) violation(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.violations = append(w.violations, fmt.Sprintf("%s  %s", clock(w.now), text))
	w.note("!! VIOLATED: %s", text)
}

func (w *world) require(holds bool, format string, args ...any) {
	if !holds {
		w.violation(format, args...)
	}
}

// checkDecision checks that an operation never waits in silence (I8).
func (w *world) checkDecision(d *Decision) {
	w.require(d.State.Ended() || len(d.Actions)+len(d.Waiting) > 0, "I8: neither actions nor waits, and the operation has not ended")
	w.require(d.Message != "", "I8: no message")
	intervention := false
	for i := range d.Waiting {
		wait := &d.Waiting[i]
		w.require(wait.Reason != "" && wait.Message != "", "I8: a wait without reason or message: %+v", *wait)
		w.require(!wait.ManualIntervention || wait.Remedy != "", "I8: manual intervention without a remedy: %s", wait.Message)
		intervention = intervention || wait.ManualIntervention
	}
	w.require(d.State != Stalled || intervention, "I8: stalled without manual intervention")
	for i := range d.Actions {
		w.require(d.Actions[i].Reason != "", "I8: %s %s without a reason", d.Actions[i].Kind, d.Actions[i].Node)
	}
}

// admitted is how many nodes config/policy/controller.yaml lets a claim make active.
func admitted(spec *refitv1alpha1.ClusterUpgradeSpec) int {
	most, hasDefault := 1, false // a control plane node
	for i := range spec.Pools {
		rules := &spec.Pools[i]
		hasDefault = hasDefault || rules.Name == "default"
		switch {
		case rules.MaxUnavailable == nil:
			most++
		case rules.MaxUnavailable.Type == intstr.String:
			most += refitv1alpha1.MaxActive
		default:
			most += rules.MaxUnavailable.IntValue()
		}
	}
	if !hasDefault {
		most++
	}
	return most
}

// checkClaims checks that nothing new starts while the operation is held, that one control plane
// node is upgraded at a time (I1), and that no more workers than maxUnavailable are (I2).
func (w *world) checkClaims(who *controller, claimed []*machine) {
	spec, active := &w.op.Spec, w.op.Active
	if len(claimed) == 0 {
		return
	}
	w.require(who.skew.Abs() <= maxClockSkew, "a claim by a controller whose clock is off by %s", who.skew)
	w.require(!spec.Aborted, "a claim while the operation is aborted")
	w.require(!spec.Paused, "a claim while the operation is paused")
	w.require(spec.Approval == refitv1alpha1.ApprovalNone || spec.ApprovedPlan != "", "a claim without approval")
	w.require(len(active) <= refitv1alpha1.MaxActive, "%d nodes are claimed, and the limit is %d", len(active), refitv1alpha1.MaxActive)
	w.require(len(active) <= admitted(spec), "%d nodes are claimed, and admission allows %d", len(active), admitted(spec))
	for i, name := range active {
		w.require(!slices.Contains(active[:i], name), "%s is claimed twice", name)
	}
	w.checkControlPlaneAlone()
	w.checkWindow(who, claimed)
	for _, m := range claimed {
		if !w.changing(m) && !w.changed(m) {
			w.checkOpen("%s is claimed", m.name)
		}
	}
	if !who.fresh {
		return
	}
	w.require(w.older == "", "a claim while an older operation has not ended")
	w.require(!ComponentsAlone(w.op.Plan), "a claim by a plan that changes components alone")
	for _, m := range w.machines {
		w.require(w.abandoned(m) || !w.failed(m), "a claim while %s is failed", m.name)
	}
	for _, m := range claimed {
		if m.controlPlane {
			w.checkComponentsIdle(m)
		}
		if m.controlPlane && w.op.Spec.Backup != nil {
			w.checkBackupProven(m, w.op.Spec.Backup.MaxAge.Duration+grace)
		}
		w.require(m.ready || w.changed(m), "%s is claimed and not ready", m.name)
		if m.controlPlane {
			w.checkControlPlaneHealthy(m)
		} else {
			w.checkCanary(m)
		}
	}
}

func (w *world) checkControlPlaneAlone() {
	for _, name := range w.op.Active {
		if m := w.machine(name); m != nil && m.controlPlane && len(w.op.Active) > 1 {
			w.violation("I1: control plane node %s is not the only active node: %v", name, w.op.Active)
		}
	}
}

// checkWindow compares with the pool in the controller's view: its size may have changed since.
func (w *world) checkWindow(who *controller, claimed []*machine) {
	spec := policy.Defaulted(w.op.Spec)
	for i := range spec.Pools {
		var size, ours, anyone int
		var zones []string
		for j := range who.view.snapshot.Nodes {
			n := &who.view.snapshot.Nodes[j]
			if n.ControlPlane || policy.PoolOf(&spec, n) != i {
				continue
			}
			size++
			switch {
			case slices.Contains(w.op.Active, n.Name):
				ours++
				anyone++
				if !slices.Contains(zones, n.Zone) {
					zones = append(zones, n.Zone)
				}
			case policy.Abandoned(&spec, n.Name), n.IsJoining(w.now):
			case !n.IsReady() && !policy.Waived(&spec, policy.CheckNodeNotReady, policy.NodeObject(n.Name)),
				n.Unschedulable && !policy.Waived(&spec, policy.CheckNodeCordoned, policy.NodeObject(n.Name)):
				anyone++
			}
		}
		if !slices.ContainsFunc(claimed, func(m *machine) bool {
			return !m.controlPlane && policy.PoolOf(&spec, &cluster.Node{Labels: m.labels}) == i
		}) {
			continue
		}
		limit := policy.MaxUnavailable(&spec.Pools[i], size)
		w.require(ours <= limit, "I2: %d nodes of pool %s are active, and maxUnavailable is %d", ours, spec.Pools[i].Name, limit)
		w.require(!who.fresh || anyone <= limit, "I2: %d nodes of pool %s are unavailable, and maxUnavailable is %d", anyone, spec.Pools[i].Name, limit)
		w.require(!who.fresh || len(zones) == 1, "pool %s is upgraded in the zones %v at once", spec.Pools[i].Name, zones)
	}
}

// checkControlPlaneHealthy checks that every member, API server and node of the control plane is
// healthy before the next one is upgraded (I1).
func (w *world) checkControlPlaneHealthy(next *machine) {
	healthy := 0
	w.checkMembers(next, w.now.Add(-grace))
	for _, m := range w.machines {
		if !m.controlPlane || (m == next && w.changed(m)) {
			continue
		}
		w.require(m.ready, "I1: %s is upgraded while control plane node %s is not ready", next.name, m.name)
		w.require(m.up && m.apiServer.healthy(), "I1: %s is upgraded while the API server on %s is not ready", next.name, m.name)
		w.require(w.answered(m), "I1: %s is upgraded while the endpoint does not answer %s", next.name, m.name)
		if m != next && (m.member() || w.now.Sub(m.etcd.unhealthySince) < grace) {
			healthy++
		}
	}
	if w.external || len(w.members) == 1 || (len(w.members) == 2 && healthy == 1 && policy.WaivedAnywhere(&w.op.Spec, policy.CheckTwoMembers)) {
		return
	}
	w.require(healthy > len(w.members)/2, "I1: without %s, %d of %d etcd members are healthy", next.name, healthy, len(w.members))
}

// checkMembers checks that every etcd member was healthy at a time.
func (w *world) checkMembers(turn *machine, asOf time.Time) {
	for _, m := range w.machines {
		if m.etcd.version != "" && m != turn && !w.claimLost(m) && !m.member() && m.etcd.unhealthySince.Before(asOf) {
			w.violation("I1: %s is upgraded or released, and the etcd member on %s has been unhealthy for %s", turn.name, m.name, w.now.Sub(m.etcd.unhealthySince))
		}
	}
}

// checkDone checks that the whole control plane was healthy after the upgrade of one of its nodes
// (I1).
func (w *world) checkDone(who *controller, name string) {
	m := w.machine(name)
	if m != nil && w.abandoned(m) {
		return
	}
	// A restore of etcd can lose the order that permits a change, and a stopped agent cannot report
	// it.
	lost := m != nil && w.restored && (m.agent.stopped || !m.up)
	w.require(m == nil || lost || !w.changing(m), "%s is released while its agent may be changing it", name)
	if m == nil || !who.fresh || m.upgrade == nil || m.upgrade.Status.Phase != refitv1alpha1.NodeSucceeded || string(m.upgrade.Spec.NodeUID) != m.uid {
		return
	}
	w.require(m.ready, "%s is released and not ready", name)
	if !m.controlPlane {
		return
	}
	w.checkMembers(m, m.since.completed)
	for _, other := range w.machines {
		w.require(!other.controlPlane || w.claimLost(other) || other.up && other.apiServer.healthy(), "I1: %s is released while the API server on %s is not ready", name, other.name)
	}
	w.checkTrial(m)
}

// checkTrial checks that a control plane node is neither uncordoned nor released while its pods
// have had no network since before the end of its upgrade (I1).
func (w *world) checkTrial(m *machine) {
	u := m.upgrade
	if !m.controlPlane || m.trial.disconnectedSince.IsZero() || w.op.Spec.Aborted || u == nil || string(u.Spec.NodeUID) != m.uid ||
		u.Spec.Permit != refitv1alpha1.PermitApply || u.Status.ObservedSequence != u.Spec.Sequence || u.Status.Phase != refitv1alpha1.NodeSucceeded {
		return
	}
	w.require(m.trial.disconnectedSince.After(m.since.completed), "I1: %s takes pods, which have had no network since %s", m.name, clock(m.trial.disconnectedSince))
}

// claimLost reports whether a restore of etcd lost the claim of a partly changed host, which only
// its own claim can finish.
func (w *world) claimLost(m *machine) bool {
	return w.restored && w.changed(m) && !slices.Contains(w.op.Active, m.name)
}

// answered reports whether the endpoint answers a machine, or need not: a partly changed host may
// be the cause, so it is finished.
func (w *world) answered(m *machine) bool {
	return m.cutOffSince.IsZero() || w.now.Sub(m.cutOffSince) < grace || slices.ContainsFunc(w.machines, w.changed) ||
		policy.WaivedAnywhere(&w.op.Spec, policy.CheckUnreachable)
}

// changed reports whether the host is partly changed.
func (w *world) changed(m *machine) bool { return m.agent.old != nil }

func (w *world) failed(m *machine) bool {
	u := m.upgrade
	if u == nil || string(u.Spec.NodeUID) != m.uid || u.Status.ObservedSequence != u.Spec.Sequence || u.Spec.Attempt < w.op.Spec.Retry {
		return false
	}
	drain := u.Status.Drain
	return u.Status.Phase == refitv1alpha1.NodeFailed || u.Status.Phase == refitv1alpha1.NodeRolledBack ||
		(drain != nil && drain.Sequence == u.Spec.Sequence && drain.Phase == refitv1alpha1.DrainFailed)
}

// checkCanary checks that no more nodes than the canary are upgraded before it has been healthy for
// its soak.
func (w *world) checkCanary(next *machine) {
	spec := policy.Defaulted(w.op.Spec)
	at := func(m *machine) int { return policy.PoolOf(&spec, &cluster.Node{Labels: m.labels}) }
	rules := spec.Pools[at(next)].Canary
	if rules == nil || w.restored { // a restore loses the orders that proved the canary
		return
	}
	proven, started := 0, 0
	for _, m := range w.machines {
		if w.abandoned(m) || m.controlPlane || at(m) != at(next) || m.upgrade == nil || m.upgrade.Spec.Release != next.upgrade.Spec.Release || string(m.upgrade.Spec.NodeUID) != m.uid {
			continue
		}
		done := m.upgrade.Status.Phase == refitv1alpha1.NodeSucceeded && m.upgrade.Status.ObservedSequence == m.upgrade.Spec.Sequence
		if slices.Contains(w.op.Active, m.name) || done {
			started++
		}
		if done && m.ready && w.now.Sub(m.since.completed) >= rules.Soak.Duration-w.slack() {
			proven++
		}
	}
	w.require(proven >= int(rules.Nodes) || started <= int(rules.Nodes), "%s is claimed, and the canary is not proven: %d started, %d proven", next.name, started, proven)
}

// checkEnd checks the guarantees at the end of an operation.
func (w *world) checkEnd(who *controller) {
	w.require(len(w.op.Active) == 0, "the operation ends while %v are active", w.op.Active)
	if !who.fresh {
		return
	}
	spec := policy.Defaulted(w.op.Spec)
	w.checkComponentsDone(who.view.plan(w))
	target := who.view.plan(w).To
	want := w.parse(target)
	for i := range who.view.snapshot.Nodes {
		n := &who.view.snapshot.Nodes[i]
		w.require(n.CordonedBy == "" || policy.Abandoned(&spec, n.Name), "the operation ends with %s cordoned", n.Name)
		w.require(n.ProtectedBy == "", "the operation ends, and autoscalers may still not remove %s", n.Name)
		late := n.CreatedAt.After(w.op.ApprovedAt) && w.now.Sub(n.CreatedAt) >= interventionDelay-w.slack() && (!n.IsReady() || n.Report == nil || string(n.Report.NodeUID) != n.UID)
		late = late || ComponentsAlone(w.op.Plan) && n.CreatedAt.After(w.op.ApprovedAt) && !n.ControlPlane // and stays as it is
		if w.op.end == Succeeded && policy.Exclusion(&spec, n) == "" && !late {
			w.require(n.IsReady() && !kubeletVersion(n).Before(want), "the operation succeeds with %s at %s", n.Name, n.Kubelet)
		}
	}
}

func clock(t time.Time) string {
	since := t.Sub(simulationStart)
	return fmt.Sprintf("%02d:%02d:%02d", int(since.Hours()), int(since.Minutes())%60, int(since.Seconds())%60)
}
