package agent

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestUpgradeOfAFormerClusterIsReported(t *testing.T) {
	a := killedIn(t, node.StepEtcd, kubeadm.APIServer)
	reserve := filepath.Join(a.Settings.StateDir, "reserve")
	must(t, os.WriteFile(reserve, []byte("reserved"), 0o600))
	must(t, a.readState())
	wantOld(t, kubeadm.APIServer, kubeadm.Etcd)
	openUpgrade(t, a)
	former := a.upgrade
	a.upgrade = nil
	must(t, a.leaveCluster(former))
	if isThere(reserve) {
		t.Error("the disk space stays reserved")
	}
	status, known, _ := a.status.compose()
	if !known || status.ObservedSequence != a.state.Sequence || status.Phase != refitv1alpha1.NodeFailed ||
		status.Error.Reason != "ClusterChanged" || status.Error.Remedy == "" {
		t.Errorf("%+v %+v", status, status.Error)
	}
	stored, err := loadState(a.Settings.StateFile(), machineID)
	if err != nil || stored.Open != "" || stored.Sequence != 7 || stored.Result == nil {
		t.Errorf("%+v, %v", stored, err)
	}
}

// A staged manifest shows that a swap was interrupted, so none may be left after a rollback.
func TestRollbackLeavesNoStagedManifest(t *testing.T) {
	a := killedIn(t, node.StepEtcd, kubeadm.APIServer)
	must(t, a.readState())
	openUpgrade(t, a)
	must(t, a.upgrade.write(node.Record{Kind: node.Finished, Outcome: refitv1alpha1.NodeRolledBack}))
	must(t, a.finish(node.Read(a.upgrade.journal.Records())))
	must(t, os.Remove(manifest(kubeadm.APIServer)))
	must(t, os.Remove(a.Settings.StateFile()))
	must(t, a.readState())
	if isThere(manifest(kubeadm.APIServer)) {
		t.Error("a manifest was restored that its owner removed after the rollback")
	}
}

// leftIn is the agent of a host whose cluster CA was replaced after its agent died in a step.
func leftIn(t *testing.T, step string) *Agent {
	t.Helper()
	a := killedIn(t, step)
	openUpgrade(t, a)
	former := a.upgrade
	a.upgrade = nil
	must(t, a.leaveCluster(former))
	return a
}

// give makes the agent judge an order.
func give(t *testing.T, a *Agent, permit refitv1alpha1.Permit) refitv1alpha1.NodeUpgradeStatus {
	t.Helper()
	order := goodOrder("sha256:aa")
	order.Spec.Permit, order.Spec.Sequence = permit, a.state.Sequence+1
	must(t, a.accept(t.Context(), order))
	status, _, _ := a.status.compose()
	if status.ObservedSequence != order.Spec.Sequence {
		t.Errorf("the status is of order %d, not %d", status.ObservedSequence, order.Spec.Sequence)
	}
	return status
}

// restarted is the agent after a restart.
func restarted(t *testing.T, a *Agent) *Agent {
	t.Helper()
	next := newTestAgent(t, a.client)
	next.Settings = a.Settings
	must(t, next.readState())
	must(t, next.resume())
	return next
}

// The controllers uncordon a node that was rolled back, and take an idle one for unchanged.
func TestHostThatWasNotRolledBackIsNeverReportedAsUnchanged(t *testing.T) {
	a := leftIn(t, node.StepKubelet)
	for _, permit := range []refitv1alpha1.Permit{
		refitv1alpha1.PermitRollback, refitv1alpha1.PermitHold,
		refitv1alpha1.PermitApply, // it is rejected: no key has signed its ClusterRelease
		refitv1alpha1.PermitRollback,
	} {
		status := give(t, a, permit)
		if permit == refitv1alpha1.PermitApply {
			continue
		}
		if status.Phase != refitv1alpha1.NodeFailed || status.Error == nil || status.Error.Reason != "ClusterChanged" || status.Error.Remedy == "" {
			t.Errorf("%s: the phase is %s, the error %+v", permit, status.Phase, status.Error)
		}
		a = restarted(t, a)
		if again, _, _ := a.status.compose(); again.Phase != refitv1alpha1.NodeFailed {
			t.Errorf("%s: the phase is %s after a restart", permit, again.Phase)
		}
	}
}

// A later upgrade that changes nothing does not make the host one that was rolled back either.
func TestRollbackOfALaterUpgradeDoesNotHideAnEarlierChange(t *testing.T) {
	a := leftIn(t, node.StepKubelet)
	a.state.Open = "upgrade-2"
	must(t, os.MkdirAll(filepath.Dir(a.journalFile(a.state.Open)), 0o700))
	writeJournal(t, a, node.StepFetch)
	openUpgrade(t, a)
	must(t, a.upgrade.write(node.Record{Kind: node.Finished, Outcome: refitv1alpha1.NodeRolledBack}))
	if status, _, _ := a.status.compose(); status.Phase != refitv1alpha1.NodeFailed || status.Error == nil || status.Error.Reason != "ClusterChanged" {
		t.Errorf("the phase is %s, the error %+v", status.Phase, status.Error)
	}
	must(t, a.upgrade.write(node.Record{Kind: node.Ordered, Order: &node.Order{Operation: "op-uid", Sequence: 9, Permit: refitv1alpha1.PermitApply}}))
	must(t, a.upgrade.write(node.Record{Kind: node.Finished, Outcome: refitv1alpha1.NodeSucceeded}))
	must(t, a.finish(node.Read(a.upgrade.journal.Records())))
	if status, _, _ := a.status.compose(); status.Phase != refitv1alpha1.NodeSucceeded || a.state.Unresumed != nil {
		t.Errorf("the phase is %s after a success, unresumed %v", status.Phase, a.state.Unresumed)
	}
}

func TestHostThatWasNotChangedIsReportedAsRolledBack(t *testing.T) {
	a := leftIn(t, node.StepFetch)
	if status := give(t, a, refitv1alpha1.PermitRollback); status.Phase != refitv1alpha1.NodeRolledBack {
		t.Errorf("the phase is %s", status.Phase)
	}
}

func TestOperatorAcceptsAHostThatWasNotRolledBack(t *testing.T) {
	a := leftIn(t, node.StepKubelet)
	state, err := loadState(a.Settings.StateFile(), machineID)
	must(t, err)
	if n := accepted(&state); n != 0 || state.Unresumed != nil {
		t.Errorf("%d binaries, unresumed %v", n, state.Unresumed)
	}
	must(t, saveState(a.Settings.StateFile(), state))
	if status := give(t, restarted(t, a), refitv1alpha1.PermitRollback); status.Phase != refitv1alpha1.NodeRolledBack {
		t.Errorf("the phase is %s", status.Phase)
	}
}

// recreated is the API of a Node that was deleted and registered again.
type recreated struct{ apiStub }

func (r *recreated) Node(ctx context.Context) (*corev1.Node, error) {
	self, err := r.apiStub.Node(ctx)
	self.UID = "another"
	return self, err
}

func TestOpenUpgradeOfARecreatedNodeIsRolledBack(t *testing.T) {
	for _, permit := range []refitv1alpha1.Permit{refitv1alpha1.PermitRollback, refitv1alpha1.PermitHold} {
		t.Run(string(permit), func(t *testing.T) {
			a := killedIn(t, node.StepKubelet)
			a.client = &recreated{}
			openUpgrade(t, a)
			order := goodOrder("sha256:aa")
			order.Spec.Permit, order.Spec.NodeUID = permit, "another"
			must(t, a.accept(t.Context(), order))
			state := node.Read(a.upgrade.journal.Records())
			if a.state.Open == "" || a.state.Result != nil || state.Order.Permit != permit || state.Outcome != "" {
				t.Errorf("open %q, result %+v, order %+v", a.state.Open, a.state.Result, state.Order)
			}
		})
	}
}
