package orders

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

var ref = refitv1alpha1.BackupRef{Name: "nightly", UID: "b-uid", Attempt: 2, Store: "local"}

func TestBackupKeepsTheOrderThatItReplaces(t *testing.T) {
	operation, n := example()
	before := New(operation, n, Order{
		Permit: refitv1alpha1.PermitPrefetch, Release: refitv1alpha1.ReleaseRef{Name: "r"}, Role: refitv1alpha1.RoleControlPlane, Attempt: 1,
	}, 9, now)
	got := Backup(&before, n, ref, now.Add(time.Minute))
	if got.Format != 2 || got.Permit != refitv1alpha1.PermitBackup || got.Backup != ref || got.Sequence != before.Sequence+1 || got.Epoch != before.Epoch {
		t.Errorf("got %+v", got)
	}
	got.Format, got.Permit, got.Backup, got.Sequence, got.OrderTime = before.Format, before.Permit, before.Backup, before.Sequence, before.OrderTime
	if got != before {
		t.Errorf("got %+v, want %+v", got, before)
	}
	ordered := Backup(&before, n, ref, now)
	held := Held(&ordered)
	if held.Format != 1 || held.Backup != (refitv1alpha1.BackupRef{}) || held.Operation != before.Operation || held.Sequence != ordered.Sequence+1 {
		t.Errorf("it is withdrawn as %+v", held)
	}
}

func TestBackupOfANodeWithoutAnOrder(t *testing.T) {
	_, n := example()
	n.Report.AcceptedEpoch = 5
	got := Backup(&refitv1alpha1.NodeUpgradeSpec{}, n, ref, now)
	if got.Operation != (refitv1alpha1.Operation{}) || got.Release != (refitv1alpha1.ReleaseRef{}) || got.Role != refitv1alpha1.RoleControlPlane ||
		got.Sequence != n.Report.AcceptedSequence+1 || got.Epoch != 5 || got.MachineID != n.Report.MachineID {
		t.Errorf("got %+v", got)
	}
}

func TestBackupOfANodeThatJoinedAgain(t *testing.T) {
	operation, n := example()
	before := New(operation, n, Order{Permit: refitv1alpha1.PermitApply, Release: refitv1alpha1.ReleaseRef{Name: "r"}}, 9, now)
	n.UID = "another"
	if got := Backup(&before, n, ref, now); got.Operation.UID != "" || got.NodeUID != "another" || got.Sequence != before.Sequence+1 || got.Epoch < before.Epoch {
		t.Errorf("got %+v", got)
	}
}

func TestBackingUpUntilItEnds(t *testing.T) {
	at := metav1.NewTime(now)
	base := func() *cluster.Upgrade {
		return &cluster.Upgrade{Generation: 3, Spec: refitv1alpha1.NodeUpgradeSpec{Permit: refitv1alpha1.PermitBackup, Backup: ref, OrderTime: &at}}
	}
	result := func(attempt int64, phase refitv1alpha1.BackupPhase) func(*cluster.Upgrade) {
		return func(u *cluster.Upgrade) {
			u.Status.Backup = &refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: attempt, Phase: phase}
		}
	}
	for situation, tt := range map[string]struct {
		change func(*cluster.Upgrade)
		after  time.Duration
		want   bool
	}{
		"ordered":                  {func(*cluster.Upgrade) {}, 0, true},
		"the attempt before ended": {result(1, refitv1alpha1.BackupFailed), 0, true},
		"running":                  {result(2, refitv1alpha1.BackupRunning), 0, true},
		"succeeded":                {result(2, refitv1alpha1.BackupSucceeded), 0, false},
		"failed":                   {result(2, refitv1alpha1.BackupFailed), 0, false},
		"not taken":                {func(*cluster.Upgrade) {}, TakeTimeout, false},
		"running for long":         {result(2, refitv1alpha1.BackupRunning), TakeTimeout, true},
		"too long":                 {result(2, refitv1alpha1.BackupRunning), BackupTimeout, false},
		"another permit":           {func(u *cluster.Upgrade) { u.Spec.Permit = refitv1alpha1.PermitHold }, 0, false},
		"refused": {func(u *cluster.Upgrade) {
			u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionAccepted, Status: metav1.ConditionFalse, ObservedGeneration: 3}}
		}, 0, false},
	} {
		u := base()
		tt.change(u)
		if got := BackingUp(u, now.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %t", situation, got)
		}
	}
	if BackingUp(nil, now) {
		t.Error("a node without an order backs up")
	}
}
