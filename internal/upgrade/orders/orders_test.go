package orders

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestKnownFormatsAreThoseOfTheAPI(t *testing.T) {
	want := int32(refitv1alpha1.MinOrderFormat)
	for _, format := range Known() {
		if format.Number != want {
			t.Errorf("format %d where %d is expected", format.Number, want)
		}
		want++
	}
	if want != refitv1alpha1.MaxOrderFormat+1 {
		t.Errorf("the formats end at %d, those of the API at %d", want-1, refitv1alpha1.MaxOrderFormat)
	}
}

func TestOrderHasTheLowestFormatThatCarriesIt(t *testing.T) {
	formats := append(Known(),
		Format{Number: 101, Needed: func(o *refitv1alpha1.NodeUpgradeSpec) bool { return o.Permit == "Backup" }},
		Format{Number: 102, Needed: func(o *refitv1alpha1.NodeUpgradeSpec) bool { return o.KeepAddons }},
	)
	apply := &refitv1alpha1.NodeUpgradeSpec{Permit: refitv1alpha1.PermitApply}
	backup := &refitv1alpha1.NodeUpgradeSpec{Permit: "Backup"}
	both := &refitv1alpha1.NodeUpgradeSpec{Permit: "Backup", KeepAddons: true}
	for _, tt := range []struct {
		name   string
		orders []*refitv1alpha1.NodeUpgradeSpec
		want   int32
	}{
		{"an order that every agent reads", []*refitv1alpha1.NodeUpgradeSpec{apply}, 1},
		{"an order with a newer permit", []*refitv1alpha1.NodeUpgradeSpec{backup}, 101},
		{"an order with two newer fields", []*refitv1alpha1.NodeUpgradeSpec{both}, 102},
		{"several orders", []*refitv1alpha1.NodeUpgradeSpec{backup, apply}, 101},
	} {
		if got := formats.Of(tt.orders...); got != tt.want {
			t.Errorf("%s: format %d, want %d", tt.name, got, tt.want)
		}
	}
}

func example() (*refitv1alpha1.ClusterUpgrade, *cluster.Node) {
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	operation.Spec.Rollback, operation.Status.Epoch = refitv1alpha1.RollbackManual, 4
	report := &refitv1alpha1.NodeReportStatus{}
	report.MachineID, report.AcceptedSequence = "0123456789abcdef0123456789abcdef", 7
	return operation, &cluster.Node{Name: "worker-1", UID: "uid-1", Report: report}
}

func TestOrderHasTheFieldsOfTheOperationAndTheAction(t *testing.T) {
	operation, n := example()
	at := time.Date(2026, 5, 4, 3, 2, 1, 999, time.FixedZone("", 3600))
	got := New(operation, n, Order{
		Permit: refitv1alpha1.PermitApply, Release: refitv1alpha1.ReleaseRef{Name: "r"}, Role: refitv1alpha1.RoleWorker, Attempt: 2, KeepAddons: true,
	}, 3, at)
	orderTime := metav1.NewTime(time.Date(2026, 5, 4, 2, 2, 1, 0, time.UTC))
	want := refitv1alpha1.NodeUpgradeSpec{
		Format: 1, Operation: refitv1alpha1.Operation{Name: "to-v1.36", UID: "op"}, NodeUID: "uid-1", MachineID: n.Report.MachineID, Sequence: 8, Epoch: 4,
		Attempt: 2, Role: refitv1alpha1.RoleWorker, Release: refitv1alpha1.ReleaseRef{Name: "r"}, Permit: refitv1alpha1.PermitApply,
		Rollback: refitv1alpha1.RollbackManual, KeepAddons: true, OrderTime: &orderTime,
	}
	if !got.OrderTime.Equal(want.OrderTime) {
		t.Errorf("order time %v, want %v", got.OrderTime, want.OrderTime)
	}
	got.OrderTime = want.OrderTime
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestSequenceIsAboveTheLastOrderAndAboveTheAcceptedOne(t *testing.T) {
	operation, n := example()
	for last, want := range map[int64]int64{0: 8, 7: 8, 12: 13} {
		if got := New(operation, n, Order{}, last, time.Time{}).Sequence; got != want {
			t.Errorf("after %d: sequence %d, want %d", last, got, want)
		}
	}
}

func TestHeldOrderKeepsAllButPermitAndSequence(t *testing.T) {
	operation, n := example()
	order := New(operation, n, Order{Permit: refitv1alpha1.PermitApply, Role: refitv1alpha1.RoleWorker}, 0, time.Time{})
	got := Held(&order)
	if got.Permit != refitv1alpha1.PermitHold || got.Sequence != order.Sequence+1 {
		t.Errorf("got permit %s and sequence %d", got.Permit, got.Sequence)
	}
	got.Permit, got.Sequence, got.OrderTime = order.Permit, order.Sequence, order.OrderTime
	if got != order {
		t.Errorf("got %+v, want %+v", got, order)
	}
}

func TestPlannedOrdersHaveTheFormatOfThoseThatAreGiven(t *testing.T) {
	operation, n := example()
	for _, planned := range Planned(&operation.Spec, n) {
		given := New(operation, n, Order{Permit: planned.Permit, Role: planned.Role}, 0, time.Time{})
		if FormatOf(planned) != given.Format || planned.Rollback != given.Rollback {
			t.Errorf("%s: planned as %+v, given as %+v", planned.Permit, planned, given)
		}
	}
}

func TestOrderIsUnchangedUntilSomethingThatDecisionsDependOnChanges(t *testing.T) {
	base := func() *refitv1alpha1.NodeUpgrade {
		u := &refitv1alpha1.NodeUpgrade{}
		u.Spec.NodeUID, u.Spec.Sequence = "uid-1", 3
		u.Status.ObservedSequence, u.Status.Phase = 3, refitv1alpha1.NodePrefetched
		return u
	}
	observed := &cluster.Upgrade{Spec: base().Spec, Status: base().Status}
	for name, tt := range map[string]struct {
		change func(*refitv1alpha1.NodeUpgrade)
		want   bool
	}{
		"nothing":      {func(*refitv1alpha1.NodeUpgrade) {}, true},
		"the step":     {func(u *refitv1alpha1.NodeUpgrade) { u.Status.Step = "fetch" }, true},
		"the node":     {func(u *refitv1alpha1.NodeUpgrade) { u.Spec.NodeUID = "uid-2" }, false},
		"the sequence": {func(u *refitv1alpha1.NodeUpgrade) { u.Spec.Sequence++ }, false},
		"the answer":   {func(u *refitv1alpha1.NodeUpgrade) { u.Status.ObservedSequence-- }, false},
		"the phase":    {func(u *refitv1alpha1.NodeUpgrade) { u.Status.Phase = refitv1alpha1.NodeFailed }, false},
		"the drain": {func(u *refitv1alpha1.NodeUpgrade) {
			u.Status.Drain = &refitv1alpha1.DrainStatus{Phase: refitv1alpha1.DrainDrained}
		}, false},
	} {
		now := base()
		tt.change(now)
		if got := Unchanged(now, observed); got != tt.want {
			t.Errorf("after a change of %s: %v", name, got)
		}
	}
	if Unchanged(base(), nil) {
		t.Error("an order that was not observed passes as unchanged")
	}
}
