package text_test

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// noon is the time of the scenes; their operation was created six minutes before.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time {
	t := metav1.NewTime(noon.Add(-d))
	return &t
}

// scene is an operation with the orders to its nodes.
type scene struct {
	name             string
	operation        *refitv1alpha1.ClusterUpgrade
	orders           []*refitv1alpha1.NodeUpgrade
	unreachableSince time.Duration
}

func (s *scene) progress() *cliv1alpha1.Operation {
	o := progress.NewOperation("prod", s.operation, s.orders, noon)
	if s.unreachableSince > 0 {
		o.UnreachableSince, o.UnreachableError = noon.Add(-s.unreachableSince), "dial tcp 10.0.0.100:6443: connect: connection refused"
	}
	return o
}

const planHash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// newScene is an operation on 3+2 nodes from v1.35.4 to v1.36.3, with the given number of completed
// nodes.
func newScene(name string, phase refitv1alpha1.Phase, done int32, doing string) *scene {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1-36-3", UID: "u1", CreationTimestamp: *ago(6 * time.Minute)}}
	u.Spec.Target.Kubernetes = "v1.36.3"
	u.Spec.Scope = refitv1alpha1.ScopeAll
	u.Status.Phase, u.Status.Message = phase, doing
	u.Status.Waiting = []refitv1alpha1.WaitingFor{{Reason: refitv1alpha1.ReasonWaiting, Message: doing, Since: ago(65 * time.Second)}}
	u.Status.Nodes = refitv1alpha1.NodeCounts{Total: 5, Done: done}
	u.Status.Plan = &refitv1alpha1.PlanSummary{
		Hash: planHash, From: "v1.35.4", WorkersFrom: "v1.35.4", To: "v1.36.3", Estimate: metav1.Duration{Duration: 10 * time.Minute},
		Hops: []refitv1alpha1.Hop{{Kubernetes: "v1.36.3", Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"}}},
		Stages: []refitv1alpha1.StageSummary{
			{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Total: 5, Done: 5},
			{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3", Total: 3, Done: min(done, 3)},
			{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.36.3", Total: 2, Done: max(done-3, 0)},
			{Name: refitv1alpha1.StageVerify, Kubernetes: "v1.36.3"},
		},
	}
	s := &scene{name: name, operation: u}
	for i, node := range []string{"cp-1", "cp-2", "cp-3", "worker-1", "worker-2"} {
		role, phase := refitv1alpha1.RoleControlPlane, refitv1alpha1.NodePrefetched
		if i >= 3 {
			role = refitv1alpha1.RoleWorker
		}
		permit := refitv1alpha1.PermitPrefetch
		if i < int(done) {
			permit, phase = refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded
		}
		s.orders = append(s.orders, order(node, role, permit, phase))
	}
	return s
}

// backedUp adds the stages of a backup.
func (s *scene) backedUp(backup, rehearsal int32) *scene {
	stages := &s.operation.Status.Plan.Stages
	*stages = slices.Insert(*stages, 1,
		refitv1alpha1.StageSummary{Name: refitv1alpha1.StageBackup, Kubernetes: "v1.36.3", Total: 1, Done: backup},
		refitv1alpha1.StageSummary{Name: refitv1alpha1.StageRehearsal, Kubernetes: "v1.36.3", Total: 1, Done: rehearsal})
	return s
}

// withComponents adds a stage of two components.
func (s *scene) withComponents(done int32) *scene {
	stages := &s.operation.Status.Plan.Stages
	*stages = slices.Insert(*stages, 1, refitv1alpha1.StageSummary{Name: refitv1alpha1.StageComponentsBefore, Kubernetes: "v1.36.3", Total: 2, Done: done})
	return s
}

func order(node string, role refitv1alpha1.Role, permit refitv1alpha1.Permit, phase refitv1alpha1.NodePhase) *refitv1alpha1.NodeUpgrade {
	n := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.Spec = refitv1alpha1.NodeUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: "to-v1-36-3", UID: "u1"}, Sequence: 3, Role: role, Permit: permit,
		Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"},
	}
	n.Status.ObservedSequence, n.Status.Phase = 3, phase
	return n
}

func (s *scene) node(name string) *refitv1alpha1.NodeUpgrade {
	for _, o := range s.orders {
		if o.Name == name {
			return o
		}
	}
	panic("there is no order for " + name)
}

// at makes a node active.
func (s *scene) at(node string, change func(*refitv1alpha1.NodeUpgrade)) *scene {
	s.operation.Status.Active = append(s.operation.Status.Active, node)
	change(s.node(node))
	return s
}

// because sets the reason why an operation does not proceed, as the controllers do.
func (s *scene) because(reason, message, remedy string) *scene {
	s.operation.Status.Waiting[0].Reason, s.operation.Status.Waiting[0].Remedy = reason, remedy
	meta.SetStatusCondition(&s.operation.Status.Conditions, metav1.Condition{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: *ago(time.Minute),
	})
	return s
}

func (s *scene) ended(status metav1.ConditionStatus, reason string) *scene {
	for kind, is := range map[string]metav1.ConditionStatus{refitv1alpha1.ConditionReady: status, refitv1alpha1.ConditionReconciling: metav1.ConditionFalse} {
		meta.SetStatusCondition(&s.operation.Status.Conditions, metav1.Condition{Type: kind, Status: is, Reason: reason, LastTransitionTime: *ago(30 * time.Second)})
	}
	return s
}

func applying(step string, since time.Duration) func(*refitv1alpha1.NodeUpgrade) {
	return func(n *refitv1alpha1.NodeUpgrade) {
		n.Spec.Permit, n.Status.Phase, n.Status.Step, n.Status.StartTime = refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying, step, ago(since+time.Minute)
		n.Status.Steps = []refitv1alpha1.StepStatus{{Name: step, State: refitv1alpha1.StepRunning, StartTime: ago(since)}}
	}
}

func draining(phase refitv1alpha1.DrainPhase, left int32, blockers ...refitv1alpha1.Blocker) func(*refitv1alpha1.NodeUpgrade) {
	return func(n *refitv1alpha1.NodeUpgrade) {
		n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: phase, StartTime: ago(65 * time.Second), Remaining: left, Blockers: blockers}
	}
}

var cart = refitv1alpha1.Blocker{Pod: "shop/cart-7d9f-x2x", Reason: "PodDisruptionBudget shop/cart allows 0 more disruptions"}

// scenes are the states of an operation that a user may see.
func scenes() []*scene {
	planning := newScene("planning", "", 0, "")
	planning.operation.Status, planning.orders = refitv1alpha1.ClusterUpgradeStatus{}, nil

	fetching := newScene("fetching", refitv1alpha1.PhaseRunning, 0, "Prefetching on cp-1, cp-2, cp-3 and 2 more")
	fetching.operation.Status.Plan.Stages[0].Done = 3
	for i, name := range []string{"worker-1", "worker-2"} {
		n := fetching.node(name)
		n.Status.Phase, n.Status.Step = refitv1alpha1.NodePrefetching, "import-images"
		n.Status.Steps = []refitv1alpha1.StepStatus{{Name: "import-images", State: refitv1alpha1.StepRunning, StartTime: ago(time.Duration(40+10*i) * time.Second)}}
	}

	failed := newScene("stalled", refitv1alpha1.PhaseStalled, 3, "worker-1 failed at swap-kubelet and was rolled back: the kubelet does not become healthy").
		because(refitv1alpha1.ReasonNodeFailed, "worker-1 failed", "Check the log of the kubelet: journalctl -u kubelet").
		at("worker-1", func(n *refitv1alpha1.NodeUpgrade) {
			n.Spec.Permit, n.Status.Phase = refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed
			n.Status.Error = &refitv1alpha1.NodeError{Step: "swap-kubelet", At: *ago(time.Minute)}
		})
	failed.operation.Status.Nodes.Failed = 1
	failed.operation.Status.Failures = []refitv1alpha1.Failure{{
		Node: "worker-1", Class: refitv1alpha1.FailureManualIntervention, Step: "swap-kubelet",
		Message: "the kubelet does not become healthy: unknown flag --container-runtime", Remedy: "Remove the flag from /etc/default/kubelet",
	}}

	away := newScene("away", refitv1alpha1.PhaseRunning, 1, "Upgrading cp-2 to v1.36.3: swap-apiserver").at("cp-2", applying("swap-apiserver", 14*time.Second))
	away.unreachableSince = 12 * time.Second
	gone := newScene("unreachable", refitv1alpha1.PhaseRunning, 4, "Upgrading worker-2 to v1.36.3: swap-kubelet").at("worker-2", applying("swap-kubelet", 14*time.Second))
	gone.unreachableSince = 2 * time.Minute

	waits := newScene("agent-waits", refitv1alpha1.PhaseRunning, 1, "Upgrading cp-2 to v1.36.3: swap-etcd").at("cp-2", applying("swap-etcd", 75*time.Second))
	waits.node("cp-2").Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionWaiting, Status: metav1.ConditionTrue, Message: "etcd member cp-3 does not respond"}}

	paused := newScene("paused", refitv1alpha1.PhasePaused, 3, "Paused").because(refitv1alpha1.ReasonPaused, "Paused", "").at("worker-1", applying("swap-kubelet", 3*time.Second))
	paused.operation.Spec.Paused = true
	aborting := newScene("aborting", refitv1alpha1.PhaseAborting, 3, "Rolling back worker-1: swap-kubelet").
		because(refitv1alpha1.ReasonAborting, "Aborting: active nodes reach a safe state", "").at("worker-1", applying("swap-kubelet", 3*time.Second))
	aborting.node("worker-1").Spec.Permit = refitv1alpha1.PermitRollback
	approval := newScene("awaiting-approval", refitv1alpha1.PhaseAwaitingApproval, 0, "Waiting for approval of plan "+planHash).
		because(refitv1alpha1.ReasonApprovalRequired, "Waiting for approval", "Review the plan, then run `refit approve`")

	rehearsing := newScene("rehearsing", refitv1alpha1.PhaseRunning, 0,
		"Rehearsing v1.36.3 on the restored backup: EtcdBackup to-v1-36-3-0c9f8a7b-v1.36.3-1: Attempt 1 on cp-2, step rehearse").backedUp(1, 0).
		because(refitv1alpha1.ReasonBackupPending, "Rehearsing v1.36.3", "")
	refuted := newScene("rehearsal-failed", refitv1alpha1.PhaseStalled, 0,
		"The rehearsal of v1.36.3 on the restored backup fails: --feature-gates: the API server does not know the flag").backedUp(1, 0).
		because(refitv1alpha1.ReasonRehearsalFailed, "The rehearsal fails", "Remove the flag from the kubeadm configuration. Then run `refit retry`")

	component := newScene("component", refitv1alpha1.PhaseRunning, 0, "Upgrading component liqo to v1.2.0: upgrading objects of wave controllers").withComponents(0).
		because(refitv1alpha1.ReasonProgressing, "Upgrading component liqo", "")
	componentFailed := newScene("component-failed", refitv1alpha1.PhaseStalled, 0,
		"Component liqo failed while verifying that everything is ready, and was rolled back (ManualInterventionRequired): Deployment liqo/liqo-proxy is not ready").withComponents(0).
		because(refitv1alpha1.ReasonComponentFailed, "Component liqo failed", "Fix the cause, then run `refit retry`")
	componentFailed.operation.Status.Failures = []refitv1alpha1.Failure{{
		Component: "liqo", Class: refitv1alpha1.FailureManualIntervention, Step: "verify", Message: "Deployment liqo/liqo-proxy is not ready",
		Remedy: "Fix the cause, then run `refit retry`",
	}}

	queued := newScene("queued", refitv1alpha1.PhaseWaiting, 0, "Waiting for the older operation to-v1-35-4 to end").
		because(refitv1alpha1.ReasonOlderOperation, "Waiting for the older operation to-v1-35-4 to end", "")
	approval.orders, queued.orders = nil, nil
	approval.operation.Status.Plan.Stages[0].Done, queued.operation.Status.Plan.Stages[0].Done = 0, 0

	return append(aloneScenes(), []*scene{
		planning, fetching, approval, failed, away, gone, waits, paused, aborting, hops(), crowd(), queued, rehearsing, refuted, component, componentFailed,
		newScene("running", refitv1alpha1.PhaseRunning, 4, "Upgrading worker-2 to v1.36.3: swap-kubelet").at("worker-2", applying("swap-kubelet", 14*time.Second)),
		newScene("settling", refitv1alpha1.PhaseRunning, 1, "Running a trial Pod on cp-2 that resolves and reaches the API").at("cp-2", func(n *refitv1alpha1.NodeUpgrade) {
			n.Spec.Permit, n.Status.Phase, n.Status.CompletionTime = refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, ago(9*time.Second)
		}),
		newScene("draining", refitv1alpha1.PhaseRunning, 3, "Draining worker-1: 3 pods have to move").
			at("worker-1", draining(refitv1alpha1.DrainDraining, 3)),
		newScene("drain-blocked", refitv1alpha1.PhaseStalled, 3, "Draining worker-1 takes longer than 1 min: shop/cart-7d9f-x2x: PodDisruptionBudget shop/cart allows 0 more disruptions").
			because(refitv1alpha1.ReasonDrainBlocked, "Draining worker-1 takes longer than 1 min", "Make the pods evictable, or set the pool's drain.onBlocked to Skip, Fail or Delete").
			at("worker-1", draining(refitv1alpha1.DrainBlocked, 2, cart, cart)),
		newScene("done", refitv1alpha1.PhaseSucceeded, 5, "Done: the cluster is at v1.36.3").ended(metav1.ConditionTrue, refitv1alpha1.ReasonSucceeded),
		newScene("aborted", refitv1alpha1.PhaseAborted, 3, "Aborted").ended(metav1.ConditionFalse, refitv1alpha1.ReasonAborted),
	}...)
}

// hops is an operation of two hops, during the second.
func hops() *scene {
	s := newScene("hops", refitv1alpha1.PhaseRunning, 1, "Upgrading cp-2 to v1.37.1: swap-etcd")
	plan := s.operation.Status.Plan
	plan.To = "v1.37.1"
	plan.Hops = append(plan.Hops, refitv1alpha1.Hop{Kubernetes: "v1.37.1", Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.37.1"}})
	stage := func(name refitv1alpha1.StageName, version string, total, done int32) refitv1alpha1.StageSummary {
		return refitv1alpha1.StageSummary{Name: name, Kubernetes: version, Total: total, Done: done}
	}
	plan.Stages = []refitv1alpha1.StageSummary{
		stage(refitv1alpha1.StagePrefetch, "v1.36.3", 5, 5), stage(refitv1alpha1.StageControlPlane, "v1.36.3", 3, 3),
		stage(refitv1alpha1.StagePrefetch, "v1.37.1", 3, 3), stage(refitv1alpha1.StageControlPlane, "v1.37.1", 3, 1),
		stage(refitv1alpha1.StageWorkers, "v1.37.1", 2, 0), stage(refitv1alpha1.StageVerify, "v1.37.1", 0, 0),
	}
	for _, o := range s.orders {
		o.Spec.Release.Name = "kubernetes-v1.37.1"
	}
	return s.at("cp-2", applying("swap-etcd", 20*time.Second))
}

// crowd is an operation on five thousand nodes, many of which are active.
func crowd() *scene {
	s := newScene("large", refitv1alpha1.PhaseRunning, 3, "Draining worker-1001, worker-1002, worker-1003 and 37 more")
	status := &s.operation.Status
	status.Nodes = refitv1alpha1.NodeCounts{Total: 5000, Done: 1003}
	status.Plan.Estimate = metav1.Duration{Duration: 14 * time.Hour}
	status.Plan.Stages[0].Total, status.Plan.Stages[0].Done = 5000, 5000
	status.Plan.Stages[2].Total, status.Plan.Stages[2].Done = 4997, 1000
	for i := range 4995 {
		s.orders = append(s.orders, order(fmt.Sprintf("worker-%d", 3+i), refitv1alpha1.RoleWorker, refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched))
	}
	for i := range 40 {
		name := fmt.Sprintf("worker-%d", 1001+i)
		change := draining(refitv1alpha1.DrainDraining, int32(i%7))
		if i%3 == 0 {
			change = applying("swap-kubelet", time.Duration(i)*time.Second)
		}
		s.at(name, change)
	}
	return s
}
