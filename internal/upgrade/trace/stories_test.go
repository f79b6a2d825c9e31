package trace

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// stories are situations; testdata has the spans of each.
func stories() map[string]*worldOf {
	return map[string]*worldOf{
		"an upgrade that succeeded":          succeeded(),
		"two hops":                           twoHops(),
		"a node that failed":                 {operation: ran(operation(older), 4), nodes: []*refitv1alpha1.NodeUpgrade{failed()}},
		"a node that was retried":            {operation: ends(ran(operation(older), 6), refitv1alpha1.PhaseSucceeded, 60), nodes: []*refitv1alpha1.NodeUpgrade{retried()}},
		"a node that starts after a retry":   {operation: ran(operation(older), 4), nodes: []*refitv1alpha1.NodeUpgrade{startsLater()}},
		"a node that was rolled back":        {operation: ran(operation(older), 4), nodes: []*refitv1alpha1.NodeUpgrade{rolledBack()}},
		"an operation that was aborted":      aborted(),
		"an operation that is paused":        paused(),
		"a node that was skipped":            drained(refitv1alpha1.DrainSkipped),
		"a drain that failed":                drained(refitv1alpha1.DrainFailed),
		"a prefetch that failed":             prefetchFailed(),
		"a backup that failed":               backupFailed(),
		"an order that failed without steps": withoutSteps(),
	}
}

func succeeded() *worldOf {
	u := ends(ran(operation(older), 6), refitv1alpha1.PhaseSucceeded, 60)
	u.Status.Nodes.Done = 3
	cp := upgrade("cp-1", refitv1alpha1.RoleFirstControlPlane, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, slices.Concat(fetched(), []refitv1alpha1.StepStatus{
		done("check-host", at(30, 40), at(30, 41)), done("swap-etcd", at(30, 41), at(31, 30)), done("swap-apiserver", at(31, 30), at(32, 0)), done("verify-node", at(34, 0), at(34, 5)),
	})...)
	cp.Spec.OrderTime, cp.Status.StartTime, cp.Status.CompletionTime = at(30, 39), at(30, 40), at(34, 5)
	cp.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 6, Phase: refitv1alpha1.DrainDrained, StartTime: at(30, 5), CompletionTime: at(30, 38)}
	cp.Status.Trial = &refitv1alpha1.TrialStatus{Sequence: 7, Phase: refitv1alpha1.TrialPassed, StartTime: at(34, 6), CompletionTime: at(34, 15)}
	worker := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, append(fetched(), done("swap-kubelet", at(40, 10), at(40, 20)))...)
	worker.Status.CompletionTime = at(40, 20)
	return &worldOf{operation: u, nodes: []*refitv1alpha1.NodeUpgrade{cp, worker}, backups: []*refitv1alpha1.EtcdBackup{backup()}}
}

func backup() *refitv1alpha1.EtcdBackup {
	b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{
		Name: "to-v1.36.3-1", UID: "b1", CreationTimestamp: *at(10, 0),
		Labels: map[string]string{refitv1alpha1.LabelOperation: uid, refitv1alpha1.LabelHop: older},
	}}
	b.Status.Node, b.Status.Attempt = "cp-1", 1
	b.Status.Uploaded, b.Status.ReadBack, b.Status.Drilled = at(10, 20), at(10, 25), at(11, 0)
	b.Status.Rehearsed = []refitv1alpha1.RehearsedHop{{Release: release(older), Kubernetes: older, At: *at(22, 0), Seconds: 90}}
	return b
}

// twoHops is the second hop: the NodeUpgrade of the first one is replaced. Workers prefetch the
// second release in the stage of the first.
func twoHops() *worldOf {
	u := ran(operation(older, newer), 7)
	cp := upgrade("cp-1", refitv1alpha1.RoleControlPlane, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded,
		done("fetch", at(41, 0), at(42, 0)), done("import-images", at(42, 0), at(43, 0)), done("verify-node", at(71, 0), at(71, 5)))
	cp.Spec.Release, cp.Spec.OrderTime, cp.Status.CompletionTime = release(newer), at(70, 59), at(71, 5)
	worker := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, fetched()...)
	worker.Spec.Release = release(newer)
	return &worldOf{operation: u, nodes: []*refitv1alpha1.NodeUpgrade{cp, worker}}
}

func failed() *refitv1alpha1.NodeUpgrade {
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed, append(fetched(),
		done("stage-files", at(40, 0), at(40, 10)), step("swap-kubelet", refitv1alpha1.StepFailed, at(40, 10), at(44, 10)))...)
	n.Status.CompletionTime, n.Status.Error = at(44, 10), kubelet(44, 10)
	n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 6, Phase: refitv1alpha1.DrainDrained, StartTime: at(40, 0), CompletionTime: at(40, 0)}
	return n
}

func retried() *refitv1alpha1.NodeUpgrade {
	n := failed()
	n.Spec.Attempt, n.Spec.Sequence, n.Status.ObservedSequence = 1, 8, 8
	n.Spec.OrderTime, n.Status.StartTime = at(48, 0), at(48, 2)
	n.Status.Phase, n.Status.Error, n.Status.CompletionTime = refitv1alpha1.NodeSucceeded, nil, at(48, 20)
	n.Status.Steps[3] = done("swap-kubelet", at(48, 2), at(48, 12))
	n.Status.Steps = append(n.Status.Steps, done("verify-node", at(48, 12), at(48, 20)))
	return n
}

// startsLater is a node whose operation was retried before it had its first order.
func startsLater() *refitv1alpha1.NodeUpgrade {
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, append(fetched(), done("swap-kubelet", at(40, 10), at(40, 20)))...)
	n.Spec.Attempt, n.Status.CompletionTime = 1, at(40, 20)
	n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 6, Phase: refitv1alpha1.DrainDrained, StartTime: at(40, 0), CompletionTime: at(40, 0)}
	return n
}

// rolledBack is a node that its agent has rolled back: startTime is then that of the rollback.
func rolledBack() *refitv1alpha1.NodeUpgrade {
	n := failed()
	n.Status.Phase, n.Status.StartTime, n.Status.CompletionTime = refitv1alpha1.NodeRolledBack, at(44, 11), at(45, 0)
	n.Status.Steps[3].State = refitv1alpha1.StepUndone
	return n
}

// aborted is an operation that was aborted while it changed a node, which was rolled back.
func aborted() *worldOf {
	u := ends(ran(operation(older), 4), refitv1alpha1.PhaseAborted, 46)
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitRollback, refitv1alpha1.NodeRolledBack, append(fetched(),
		done("stage-files", at(40, 0), at(40, 10)), step("swap-kubelet", refitv1alpha1.StepUndone, at(40, 10), at(40, 20)))...)
	n.Spec.OrderTime, n.Status.StartTime, n.Status.CompletionTime = at(45, 0), at(45, 1), at(45, 30)
	other := upgrade("worker-2", refitv1alpha1.RoleWorker, refitv1alpha1.PermitHold, refitv1alpha1.NodeIdle, fetched()...)
	return &worldOf{operation: u, nodes: []*refitv1alpha1.NodeUpgrade{n, other}}
}

// paused is an operation with a node that is being changed. Neither has ended.
func paused() *worldOf {
	u := ran(operation(older), 4)
	u.Spec.Paused, u.Status.Phase, u.Status.Active = true, refitv1alpha1.PhasePaused, []string{"worker-1"}
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeApplying, append(fetched(),
		done("stage-files", at(40, 0), at(40, 10)), step("swap-kubelet", refitv1alpha1.StepRunning, at(40, 10), nil))...)
	return &worldOf{operation: u, nodes: []*refitv1alpha1.NodeUpgrade{n}}
}

func drained(phase refitv1alpha1.DrainPhase) *worldOf {
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetched, fetched()...)
	n.Status.StartTime = nil
	n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 7, Phase: phase, StartTime: at(40, 0), CompletionTime: at(50, 0), Remaining: 2}
	return &worldOf{operation: ran(operation(older), 4), nodes: []*refitv1alpha1.NodeUpgrade{n}}
}

func prefetchFailed() *worldOf {
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitPrefetch, refitv1alpha1.NodeFailed,
		done("fetch", at(0, 10), at(1, 0)), step("import-images", refitv1alpha1.StepFailed, at(1, 0), at(1, 20)))
	n.Status.StartTime, n.Status.CompletionTime = nil, at(1, 20)
	n.Status.Error = &refitv1alpha1.NodeError{Class: refitv1alpha1.FailureTransient, Reason: "DiskFull", Step: "import-images", At: *at(1, 20), Message: "SECRET"}
	return &worldOf{operation: ran(operation(older), 0), nodes: []*refitv1alpha1.NodeUpgrade{n}}
}

func backupFailed() *worldOf {
	b := backup()
	b.Status.Attempt, b.Status.BackupResult = refitv1alpha1.MaxBackupAttempts, refitv1alpha1.BackupResult{}
	b.Status.Error = &refitv1alpha1.BackupError{Class: refitv1alpha1.FailureManualIntervention, Reason: "StoreUnreachable", Step: "store", Message: "SECRET", At: *at(14, 0)}
	other := backup()
	other.UID, other.Name, other.CreationTimestamp = "b2", "to-v1.36.3-2", *at(15, 0)
	other.Status.Uploaded, other.Status.ReadBack, other.Status.Drilled = at(15, 20), at(15, 25), at(16, 0)
	other.Status.Rehearsed[0].Findings = []refitv1alpha1.RehearsalFinding{{Reason: "FlagRemoved", Message: "SECRET"}}
	return &worldOf{operation: ran(operation(older), 2), backups: []*refitv1alpha1.EtcdBackup{b, other}}
}

func withoutSteps() *worldOf {
	n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeFailed)
	n.Status.StartTime, n.Status.CompletionTime, n.Status.Error = nil, at(40, 1), kubelet(40, 1)
	n.Status.Error.Step = ""
	return &worldOf{operation: ran(operation(older), 4), nodes: []*refitv1alpha1.NodeUpgrade{n}}
}
