package clusterupgrade

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// TestBackupWhoseNameIsTaken creates a backup whose name exists. One that the operation has created
// is observed soon. Any other one would be waited for without an end.
func TestBackupWhoseNameIsTaken(t *testing.T) {
	op := &cluster.Operation{Name: "to-v1.36", UID: "op"}
	wanted := plan.BackupRequest{
		Name: cluster.BackupName(op, "v1.36.3", 1), Hop: "v1.36.3", Number: 1,
		Spec: refitv1alpha1.EtcdBackupSpec{Store: "local", Operation: op.Name, Drill: refitv1alpha1.DrillRehearse},
	}
	label := func(name, value string) func(*refitv1alpha1.EtcdBackup) {
		return func(b *refitv1alpha1.EtcdBackup) { b.Labels[name] = value }
	}
	for situation, test := range map[string]struct {
		change func(*refitv1alpha1.EtcdBackup)
		fails  bool
	}{
		"by an earlier attempt":       {func(*refitv1alpha1.EtcdBackup) {}, false},
		"with other hops":             {func(b *refitv1alpha1.EtcdBackup) { b.Spec.Drill = refitv1alpha1.DrillRestore }, false},
		"for no operation":            {func(b *refitv1alpha1.EtcdBackup) { b.Spec.Operation = "" }, true},
		"for another operation":       {label(refitv1alpha1.LabelOperation, "other"), true},
		"without labels":              {func(b *refitv1alpha1.EtcdBackup) { b.Labels = nil }, true},
		"for a retry that is to come": {label(refitv1alpha1.LabelRetry, "9"), true},
	} {
		t.Run(situation, func(t *testing.T) {
			exists := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: wanted.Name, Labels: map[string]string{
				refitv1alpha1.LabelOperation: op.UID, refitv1alpha1.LabelHop: "v1.36.3", refitv1alpha1.LabelNumber: "1", refitv1alpha1.LabelRetry: "0",
			}}, Spec: wanted.Spec}
			test.change(exists)
			operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: op.Name, UID: types.UID(op.UID)}}
			s := newScene(t, exists, operation)
			action := plan.Action{Kind: plan.CreateBackup, Backup: &wanted}
			err := s.Reconciler.execute(t.Context(), &observation{
				operation: operation, snapshot: &cluster.Snapshot{Operation: op}, now: time.Now(),
				Assessment: &assess.Assessment{Decision: plan.Decision{Actions: []plan.Action{action}}},
			})
			if fails := err != nil; fails != test.fails {
				t.Errorf("it fails: %t (%v), want %t", fails, err, test.fails)
			}
			if reported := len(s.failures.of(operation.UID, []plan.Action{action})) == 1; reported != test.fails {
				t.Errorf("the failure is reported: %t, want %t", reported, test.fails)
			}
		})
	}
}
