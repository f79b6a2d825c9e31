package plan

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// interventionDelay is how long Refit waits for something that should happen by itself before it
// requires manual intervention.
const interventionDelay = 10 * time.Minute

// maxReportAge is how old a report may be for decisions about the control plane.
const maxReportAge = 2 * time.Minute

// view is a Snapshot with what Next derives from it. Nothing in it outlives a decision.
type view struct {
	plan   *Plan
	spec   *refitv1alpha1.ClusterUpgradeSpec
	s      *cluster.Snapshot
	op     *cluster.Operation
	now    time.Time
	drains *disruption.Simulation
	// blocking is the preflight finding that keeps the operation from starting, nil if none does.
	blocking *Blocking

	nodes              map[string]*cluster.Node
	controlPlane       []*cluster.Node // of the plan, in their order
	workers            []*cluster.Node // of the plan, in their order
	servers            []*cluster.Node // all control plane nodes, by name
	openReportRequests int             // that agents have not answered
	counts             []poolCount     // by pool
	active             map[string]bool
	pools              map[string]int // of each worker, excluded or not
	gates              map[Held][]gate
	opening            *opening // of the MaintenanceWindow; nil if the operation has none
	changes            samples  // of earlier upgrades, if there is a window

	versions       map[string]skew.Version // parsed already, since nodes share a few
	serverVersions map[string]skew.Version // of API servers, by node
	targets        []skew.Version          // by hop, zero if there is no ClusterRelease yet
	imagesLeft     []bool                  // by hop: components are left whose images nodes need
}

// poolCount is how many workers a pool has, and which of them are unavailable.
type poolCount struct {
	size, unavailable int
	others            []*cluster.Node // unavailable for a cause outside this operation
}

func newView(p *Plan, s *cluster.Snapshot, now time.Time) *view {
	s = inOrder(s)
	v := &view{
		plan: p, spec: &p.spec, s: s, op: s.Operation, now: now, drains: disruption.Simulate(s),
		nodes: make(map[string]*cluster.Node, len(s.Nodes)), active: make(map[string]bool, len(s.Operation.Active)), pools: make(map[string]int, len(s.Nodes)),
		versions: map[string]skew.Version{}, serverVersions: map[string]skew.Version{}, counts: make([]poolCount, len(p.spec.Pools)),
		gates: allGates, opening: openingAt(&s.Operation.Spec, s.Windows, now),
	}
	if v.opening != nil {
		v.changes = observedTimes(s)
	}
	for _, name := range s.Operation.Active {
		v.active[name] = true
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		v.nodes[n.Name] = n
		if n.Report != nil && n.ReportRequest > n.Report.Answered {
			v.openReportRequests++
		}
		if !n.ControlPlane {
			v.pools[n.Name] = policy.PoolOf(v.spec, n)
			v.countInPool(n)
		}
		switch {
		case policy.Exclusion(v.spec, n) != "":
		case n.ControlPlane:
			v.controlPlane = append(v.controlPlane, n)
		default:
			v.workers = append(v.workers, n)
		}
	}
	sortControlPlane(v.controlPlane, s.Endpoint.Holder)
	sortWorkers(v.workers)
	v.servers = s.ControlPlane()
	for _, n := range v.servers {
		v.serverVersions[n.Name] = s.APIServerVersion(n)
	}
	for _, hop := range p.Hops {
		v.targets = append(v.targets, v.parse(hop.Kubernetes))
	}
	v.imagesLeft = v.leftImages()
	return v
}

// inOrder returns the Snapshot with its nodes sorted by name, so that their order never matters.
func inOrder(s *cluster.Snapshot) *cluster.Snapshot {
	compare := func(a, b cluster.Node) int { return strings.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(s.Nodes, compare) {
		return s
	}
	sorted := *s
	sorted.Nodes = slices.Clone(s.Nodes)
	slices.SortFunc(sorted.Nodes, compare)
	return &sorted
}

// parse parses a version. The result is zero if it is none.
func (v *view) parse(text string) skew.Version {
	out, known := v.versions[text]
	if !known {
		out, _ = skew.Parse(text)
		v.versions[text] = out
	}
	return out
}

func (v *view) kubelet(n *cluster.Node) skew.Version { return v.parse(n.Kubelet) }

// serverVersion is the version of a control plane node's API server.
func (v *view) serverVersion(n *cluster.Node) skew.Version { return v.serverVersions[n.Name] }

// countInPool counts a worker in its pool.
func (v *view) countInPool(n *cluster.Node) {
	if !policy.Pooled(n) {
		return
	}
	c := &v.counts[v.pools[n.Name]]
	c.size++
	if !v.unavailable(n) {
		return
	}
	c.unavailable++
	if !v.active[n.Name] && n.CordonedBy != v.op.UID {
		c.others = append(c.others, n)
	}
}

// order is this operation's order to the node, nil if there is none. An order of another operation,
// or to a node that was removed and joined again under its name, does not count.
func (v *view) order(n *cluster.Node) *cluster.Upgrade {
	if n.Upgrade == nil || string(n.Upgrade.Spec.Operation.UID) != v.op.UID || string(n.Upgrade.Spec.NodeUID) != n.UID {
		return nil
	}
	return n.Upgrade
}

// phase is the agent's phase for the latest order, empty until it has accepted that order.
func (v *view) phase(n *cluster.Node) refitv1alpha1.NodePhase {
	order := v.order(n)
	if order == nil || order.Status.ObservedSequence != order.Spec.Sequence {
		return ""
	}
	return order.Status.Phase
}

// drain is the status of the drain for the latest order, nil if it has not started.
func (v *view) drain(n *cluster.Node) *refitv1alpha1.DrainStatus {
	order := v.order(n)
	if order == nil || order.Status.Drain == nil || order.Status.Drain.Sequence != order.Spec.Sequence {
		return nil
	}
	return order.Status.Drain
}

// trial is the status of the trial for the latest order, nil if it has not started. A backup since
// does not change what was tried, but nobody ends a trial that ran when it was ordered.
func (v *view) trial(n *cluster.Node) *refitv1alpha1.TrialStatus {
	order := v.order(n)
	if order == nil || order.Status.Trial == nil {
		return nil
	}
	passed := order.Spec.Permit == refitv1alpha1.PermitBackup && order.Status.Trial.Phase == refitv1alpha1.TrialPassed
	if order.Status.Trial.Sequence != order.Spec.Sequence && !passed {
		return nil
	}
	return order.Status.Trial
}

// changing reports whether the node's agent may be changing the host: it has an order to do so and
// has not finished it, or reports that it does.
func (v *view) changing(n *cluster.Node) bool {
	order := v.order(n)
	switch {
	case order == nil:
		return false
	case changesHost(order.Status.Phase):
		return true
	case v.partlyChanged(n):
		return true
	case v.refusal(n) != nil:
		return false
	case order.Spec.Permit != refitv1alpha1.PermitApply && order.Spec.Permit != refitv1alpha1.PermitRollback:
		return false
	}
	phase := v.phase(n)
	return phase != refitv1alpha1.NodeSucceeded && phase != refitv1alpha1.NodeRolledBack
}

// unpermitted reports whether the agent has the order to change its host, has changed nothing yet,
// and waits for permission.
func (v *view) unpermitted(n *cluster.Node) bool {
	order := v.order(n)
	if order == nil || order.Spec.Permit != refitv1alpha1.PermitApply || v.phase(n) != refitv1alpha1.NodeApplying {
		return false
	}
	waiting := meta.FindStatusCondition(order.Status.Conditions, refitv1alpha1.ConditionWaiting)
	return waiting != nil && waiting.Status == metav1.ConditionTrue && waiting.Reason == refitv1alpha1.ReasonPermissionWaiting
}

// changesHost reports whether an agent in this phase changes its host.
func changesHost(phase refitv1alpha1.NodePhase) bool {
	return phase == refitv1alpha1.NodeApplying || phase == refitv1alpha1.NodeRollingBack
}

// failed reports whether the order failed or was refused and the user has not requested a retry.
func (v *view) failed(n *cluster.Node) bool {
	order := v.order(n)
	if order == nil || order.Spec.Attempt < v.op.Spec.Retry {
		return false
	}
	phase, drain := v.phase(n), v.drain(n)
	return v.refusal(n) != nil && !v.onlyNumberRefused(n) ||
		phase == refitv1alpha1.NodeFailed || phase == refitv1alpha1.NodeRolledBack || (drain != nil && drain.Phase == refitv1alpha1.DrainFailed)
}

// skipped reports whether the node was skipped.
func (v *view) skipped(n *cluster.Node) bool {
	order, drain := v.order(n), v.drain(n)
	return drain != nil && drain.Phase == refitv1alpha1.DrainSkipped && order.Spec.Attempt >= v.op.Spec.Retry
}

// orderSpent reports whether the order has ended, so that a new one is needed to continue.
func (v *view) orderSpent(n *cluster.Node) bool {
	order, phase, drain := v.order(n), v.phase(n), v.drain(n)
	switch {
	case order == nil:
		return true
	case v.takenForAnother(n):
		return true
	case order.Spec.Permit == refitv1alpha1.PermitHold, order.Spec.Permit == refitv1alpha1.PermitRollback:
		return phase != "" && phase != refitv1alpha1.NodeRollingBack
	case order.Spec.Permit == refitv1alpha1.PermitBackup && phase != refitv1alpha1.NodePrefetched && !v.backingUp(n):
		return !v.partlyChanged(n)
	case phase == refitv1alpha1.NodeRolledBack:
		return true
	}
	return drain != nil && (drain.Phase == refitv1alpha1.DrainSkipped || drain.Phase == refitv1alpha1.DrainFailed)
}

// takenForAnother reports whether the agent follows an order that was deleted. One that replaces it
// can have its number, and the phase is then one that its permit never has.
func (v *view) takenForAnother(n *cluster.Node) bool {
	switch order, phase := v.order(n), v.phase(n); order.Spec.Permit {
	case refitv1alpha1.PermitPrefetch:
		return phase == refitv1alpha1.NodeIdle || (phase == refitv1alpha1.NodeSucceeded && v.belowRelease(n))
	case refitv1alpha1.PermitApply, refitv1alpha1.PermitRollback:
		return phase == refitv1alpha1.NodeIdle || phase == refitv1alpha1.NodePrefetching || phase == refitv1alpha1.NodePrefetched
	case refitv1alpha1.PermitHold, refitv1alpha1.PermitBackup:
	}
	return false
}

// belowRelease reports whether the node is older than the ClusterRelease of its order.
func (v *view) belowRelease(n *cluster.Node) bool {
	for hop := range v.plan.Hops {
		if release := v.plan.Hops[hop].Release; release != nil && v.order(n).Spec.Release == *release {
			return !v.at(n, hop)
		}
	}
	return false
}

// ordered reports whether the latest order is for this hop's ClusterRelease and not spent.
func (v *view) ordered(n *cluster.Node, hop int) bool {
	order, release := v.order(n), v.plan.Hops[hop].Release
	return order != nil && release != nil && order.Spec.Release == *release && !v.orderSpent(n)
}

// prefetched reports whether the node has everything that the hop installs.
func (v *view) prefetched(n *cluster.Node, hop int) bool {
	if !v.ordered(n, hop) {
		return false
	}
	order, phase := v.order(n), v.phase(n)
	// A backup keeps what was prefetched, also until the agent has accepted its order: agents get
	// it only after they have answered the one before.
	if order.Spec.Permit == refitv1alpha1.PermitBackup {
		phase = order.Status.Phase
	}
	return phase == refitv1alpha1.NodePrefetched || phase == refitv1alpha1.NodeSucceeded ||
		order.Spec.Permit == refitv1alpha1.PermitApply || v.partlyChanged(n)
}

// at reports whether the node runs the hop's version or a later one.
func (v *view) at(n *cluster.Node, hop int) bool {
	want := v.targets[hop]
	return !want.IsZero() && !v.kubelet(n).Before(want) && (!n.ControlPlane || !v.serverVersion(n).Before(want))
}

// isAt reports whether a node runs a version or a later one: its kubelet, and on a control plane
// node its API server.
func isAt(s *cluster.Snapshot, n *cluster.Node, version string) bool {
	want, err := skew.Parse(version)
	if err != nil || kubeletVersion(n).Before(want) {
		return false
	}
	return !n.ControlPlane || !s.APIServerVersion(n).Before(want)
}

// settled reports whether nothing is left to do on the node in this hop: it runs the version, is
// ready, and has neither a claim, a cordon of Refit nor an open order.
func (v *view) settled(n *cluster.Node, hop int) bool {
	return v.at(n, hop) && n.IsReady() && !v.active[n.Name] && n.CordonedBy != v.op.UID && !v.changing(n) && !v.failed(n)
}

// unavailable reports whether the node counts against maxUnavailable of its pool.
func (v *view) unavailable(n *cluster.Node) bool { return v.active[n.Name] || v.outOfService(n) }

// outOfService reports whether a node takes no pods: Refit cordoned it, it is not ready, or the
// user cordoned it. A waiver for the node excepts the last two, and abandoning it the first two. A
// node that is still joining and runs no pods has never taken any.
func (v *view) outOfService(n *cluster.Node) bool {
	switch {
	case v.abandoned(n):
		return n.IsReady() && n.Unschedulable && n.CordonedBy != v.op.UID
	case n.CordonedBy == v.op.UID:
		return true
	case !n.IsReady():
		return (!n.IsJoining(v.now) || v.drains.Node(n.Name).RunsPods()) && !policy.Waived(v.spec, policy.CheckNodeNotReady, policy.NodeObject(n.Name))
	}
	return n.Unschedulable && !policy.Waived(v.spec, policy.CheckNodeCordoned, policy.NodeObject(n.Name))
}

// workersHop is the next hop, from a hop on, in which workers are upgraded, or -1.
func (v *view) workersHop(from int) int {
	for hop := from; hop < len(v.plan.Hops); hop++ {
		if slices.ContainsFunc(v.plan.Stages, func(s Stage) bool { return s.Name == refitv1alpha1.StageWorkers && s.Hop == hop }) {
			return hop
		}
	}
	return -1
}

// role is the node's role in a hop: the first control plane node runs kubeadm's cluster-wide
// phases.
func (v *view) role(n *cluster.Node, hop int) refitv1alpha1.Role {
	switch {
	case !n.ControlPlane:
		return refitv1alpha1.RoleWorker
	case slices.ContainsFunc(v.controlPlane, func(other *cluster.Node) bool { return other != n && v.at(other, hop) }):
		return refitv1alpha1.RoleControlPlane
	}
	return refitv1alpha1.RoleFirstControlPlane
}
