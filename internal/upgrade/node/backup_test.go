package node

import (
	"slices"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var backupOrder = Order{Sequence: 2, Permit: refitv1alpha1.PermitBackup, Rollback: refitv1alpha1.RollbackAuto}

func TestPrefetchStaysAcrossABackup(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, prefetch).run()
	before := len(d.did)
	d.order(backupOrder)
	if phase := Read(d.records).Status().Phase; phase != refitv1alpha1.NodePrefetched || len(d.did) != before {
		t.Fatalf("the phase is %s after %v", phase, d.did[before:])
	}
	d.order(Order{Sequence: 3, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto})
	if d.did[before] != StepCheck || d.did[len(d.did)-1] != string(refitv1alpha1.NodeSucceeded) {
		t.Errorf("the upgrade did %v", d.did[before:])
	}
}

func TestUpgradeIsRolledBackAfterABackup(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, apply).run().order(backupOrder)
	if phase := Read(d.records).Status().Phase; phase != refitv1alpha1.NodeSucceeded {
		t.Fatalf("the phase is %s", phase)
	}
	d.order(Order{Sequence: 3, Permit: refitv1alpha1.PermitRollback})
	if !slices.Contains(d.did, "undo "+StepKubelet) || d.did[len(d.did)-1] != string(refitv1alpha1.NodeRolledBack) {
		t.Errorf("the rollback did %v", d.did)
	}
}

func TestBackupStartsNothingOfAnUpgrade(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, backupOrder).run()
	if phase := Read(d.records).Status().Phase; phase != refitv1alpha1.NodeIdle || len(d.did) > 0 {
		t.Errorf("the phase is %s after %v", phase, d.did)
	}
}

// The order of a Node that joined again has no operation, rollback policy or attempt.
func TestBackupDoesNotRetryAFailedUpgrade(t *testing.T) {
	d := newSimulation(controlPlaneUpgrade, attempt(apply, 2))
	failure := *broken
	failure.NoRollback = true
	d.fails[StepKubelet] = &failure
	d.run()
	before, was := len(d.did), Read(d.records)
	for _, order := range []Order{{Sequence: 7, Epoch: 3, Permit: refitv1alpha1.PermitBackup}, {Sequence: 8, Epoch: 3, Permit: refitv1alpha1.PermitHold}} {
		d.order(order)
		s := Read(d.records)
		if s.Failure == nil || len(d.did) != before || s.Order.Rollback != was.Order.Rollback || s.Order.Attempt != was.Order.Attempt {
			t.Errorf("%s: %v, order %+v, did %v", order.Permit, s.Failure, s.Order, d.did[before:])
		}
	}
}

func TestBackupMayBelongToNoOperation(t *testing.T) {
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	id := Identity{NodeName: "cp-1", NodeUID: "uid-1", MachineID: "m"}
	for permit, want := range map[refitv1alpha1.Permit]bool{
		refitv1alpha1.PermitBackup: true, refitv1alpha1.PermitHold: true, refitv1alpha1.PermitApply: false, refitv1alpha1.PermitRollback: false,
	} {
		order := &refitv1alpha1.NodeUpgradeSpec{Format: 2, NodeUID: "uid-1", MachineID: "m", Sequence: 1, Epoch: 1, Permit: permit}
		order.Backup = refitv1alpha1.BackupRef{UID: "b-uid", Attempt: 1}
		if got, refusal := Accept("cp-1", order, HostState{}, id, now); got != want {
			t.Errorf("%s: accepted %t: %v", permit, got, refusal)
		}
	}
}

// The UID and the attempt are a part of paths on the host.
func TestInvalidReferenceOfABackupIsRefused(t *testing.T) {
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	id := Identity{NodeName: "cp-1", NodeUID: "uid-1", MachineID: "m"}
	for _, ref := range []refitv1alpha1.BackupRef{{}, {UID: "../../etc", Attempt: 1}, {UID: "b-uid"}, {UID: "b-uid", Attempt: -1}} {
		order := &refitv1alpha1.NodeUpgradeSpec{
			Format: 2, NodeUID: "uid-1", MachineID: "m", Sequence: 1, Epoch: 1, Permit: refitv1alpha1.PermitBackup, Backup: ref,
		}
		if got, refusal := Accept("cp-1", order, HostState{}, id, now); got || refusal == nil || refusal.Reason != RefusedFormat {
			t.Errorf("%+v: accepted %t: %v", ref, got, refusal)
		}
	}
}
