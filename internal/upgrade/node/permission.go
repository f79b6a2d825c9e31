package node

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Live is what an agent reads from the API right before it changes its host. The controller can
// forge an order, but not the spec of the ClusterUpgrade, which users write.
type Live struct {
	// Operation is the ClusterUpgrade that the order names.
	Operation *refitv1alpha1.ClusterUpgrade
	// Target is the version that it leads to.
	Target string
	// Labels are the labels of this host's Node.
	Labels map[string]string
}

// IsFirstChange reports whether a move is the first change to the host. The agent requires
// permission for it, and for no later one: a host that was changed must be finished.
func (s *State) IsFirstChange(m Move) bool {
	return m.Kind == MoveRun && m.Step.Undo != UndoNothing && !s.Changed()
}

// Permission returns why the first change of a host may not start, or nil. The agent waits while
// the failure is transient: it ends when users or the controller change the ClusterUpgrade.
func Permission(u *Upgrade, live Live) *Failure {
	for _, check := range []func(*Upgrade, *Live) *Failure{otherOperation, stopped, notApproved, outOfScope, notActive, offPath} {
		if failure := check(u, &live); failure != nil {
			return failure
		}
	}
	return nil
}

func otherOperation(u *Upgrade, live *Live) *Failure {
	if live.Operation.UID == u.Operation.UID {
		return nil
	}
	return Transient("OperationMissing", nil, "Wait until the controller withdraws the order, or create another ClusterUpgrade",
		"the ClusterUpgrade %s of the order does not exist any more", u.Operation.Name)
}

func stopped(_ *Upgrade, live *Live) *Failure {
	op := live.Operation
	switch {
	case op.Spec.Aborted || op.DeletionTimestamp != nil:
		// A failure, so that the controller releases the node instead of waiting for it.
		return ManualIntervention("OperationAborted", nil, "Nothing to do: the host is unchanged, and the controller releases its node",
			"ClusterUpgrade %s is aborted", op.Name)
	case op.HasEnded():
		return Transient("OperationEnded", nil, "Create another ClusterUpgrade", "ClusterUpgrade %s has ended", op.Name)
	case op.Spec.Paused:
		return Transient("OperationPaused", nil, "Run `refit resume`", "ClusterUpgrade %s is paused", op.Name)
	}
	return nil
}

func notApproved(_ *Upgrade, live *Live) *Failure {
	op := live.Operation
	if op.Spec.Approval == refitv1alpha1.ApprovalNone || op.Status.Plan != nil && op.Spec.ApprovedPlan == op.Status.Plan.Hash {
		return nil
	}
	return Transient("OperationNotApproved", nil, "Review the plan, then run `refit approve`", "the plan of ClusterUpgrade %s is not approved", op.Name)
}

func outOfScope(u *Upgrade, live *Live) *Failure {
	spec, worker := &live.Operation.Spec, u.Role == refitv1alpha1.RoleWorker
	in := spec.Scope != refitv1alpha1.ScopeControlPlane
	if !worker {
		in = spec.Scope != refitv1alpha1.ScopeWorkers
	}
	for key, value := range spec.NodeSelector {
		in = in && (!worker || live.Labels[key] == value)
	}
	if in {
		return nil
	}
	return ManualIntervention("NodeOutOfScope", nil,
		"Check who wrote the order; to upgrade this node, create a ClusterUpgrade whose scope and nodeSelector include it",
		"ClusterUpgrade %s does not include this node", live.Operation.Name)
}

// notActive relies on the admission policy that bounds status.active: a controller whose account
// was stolen cannot order every host at once.
func notActive(u *Upgrade, live *Live) *Failure {
	if slices.Contains(live.Operation.Status.Active, u.NodeName) {
		return nil
	}
	return Transient("NodeNotActive", nil, "Check who wrote the order: the controller adds a node to status.active first",
		"this node is not in status.active of ClusterUpgrade %s", live.Operation.Name)
}

// offPath allows the target itself and every lower minor version, which a hop may reach.
func offPath(u *Upgrade, live *Live) *Failure {
	to, err := skew.Parse(u.To)
	target, errTarget := skew.Parse(live.Target)
	name := live.Operation.Spec.Target.Release
	switch {
	case err != nil || errTarget != nil:
	case to.SameMinor(target) && to == target && (name == "" || name == u.Release.Name):
		return nil
	case !to.SameMinor(target) && to.Before(target):
		return nil
	}
	return ManualIntervention("ReleaseNotOnPath", err, "Check who wrote the order; to install this ClusterRelease, create a ClusterUpgrade to it",
		"the ClusterRelease %s (%s) is not on the path of ClusterUpgrade %s to %s", u.Release.Name, u.To, live.Operation.Name, live.Target)
}
