package observe

import (
	"math"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// ownBackup is an EtcdBackup as an operation creates it.
func ownBackup(op *cluster.Operation, number int64) refitv1alpha1.EtcdBackup {
	return refitv1alpha1.EtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Name: cluster.BackupName(op, "v1.36.3", number), UID: "backup-uid", ResourceVersion: "10", Labels: map[string]string{
			refitv1alpha1.LabelOperation: op.UID, refitv1alpha1.LabelHop: "v1.36.3",
			refitv1alpha1.LabelNumber: strconv.FormatInt(number, 10), refitv1alpha1.LabelRetry: "1",
		}},
		Spec: refitv1alpha1.EtcdBackupSpec{Store: "local", Operation: op.Name},
	}
}

func TestOnlyBackupsThatTheOperationWouldCreateCount(t *testing.T) {
	op := &cluster.Operation{Name: "upgrade", UID: "operation", Spec: refitv1alpha1.ClusterUpgradeSpec{Retry: 1}}
	label := func(name, value string) func(*refitv1alpha1.EtcdBackup) {
		return func(b *refitv1alpha1.EtcdBackup) { b.Labels[name] = value }
	}
	for situation, test := range map[string]struct {
		number int64
		change func(*refitv1alpha1.EtcdBackup)
		want   bool
	}{
		"its own":                        {1, func(*refitv1alpha1.EtcdBackup) {}, true},
		"one before a retry":             {1, label(refitv1alpha1.LabelRetry, "0"), true},
		"one of another operation":       {1, label(refitv1alpha1.LabelOperation, "other"), false},
		"one that names another":         {1, func(b *refitv1alpha1.EtcdBackup) { b.Spec.Operation = "other" }, false},
		"one with another name":          {1, func(b *refitv1alpha1.EtcdBackup) { b.Name = "mine" }, false},
		"one relabelled for another hop": {1, label(refitv1alpha1.LabelHop, "v1.37.1"), false},
		"number 0":                       {0, func(*refitv1alpha1.EtcdBackup) {}, false},
		"a number without a next one":    {math.MaxInt64, func(*refitv1alpha1.EtcdBackup) {}, false},
		"a retry that is still to come":  {1, label(refitv1alpha1.LabelRetry, "2"), false},
		"no retry":                       {1, label(refitv1alpha1.LabelRetry, ""), false},
	} {
		t.Run(situation, func(t *testing.T) {
			b := ownBackup(op, test.number)
			test.change(&b)
			if _, of := backupOf(&b, op); of != test.want {
				t.Errorf("it counts: %t, want %t", of, test.want)
			}
		})
	}
}
