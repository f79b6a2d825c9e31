package observe

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

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
			if _, of := Backup(&b, op); of != test.want {
				t.Errorf("it counts: %t, want %t", of, test.want)
			}
		})
	}
}

func TestNewerOfWatchedAndReadBackupsCounts(t *testing.T) {
	op := operationOf(operation())
	op.Spec.Retry = 1
	backup := func(number int64, version string, attempt int64) refitv1alpha1.EtcdBackup {
		b := ownBackup(op, number)
		b.ResourceVersion, b.Status.Attempt = version, attempt
		return b
	}
	for situation, test := range map[string]struct {
		watched, read []refitv1alpha1.EtcdBackup
		want          []int64 // attempts
		again         bool    // the cluster is read again
	}{
		"the watch is newer":      {[]refitv1alpha1.EtcdBackup{backup(1, "11", 2)}, []refitv1alpha1.EtcdBackup{backup(1, "10", 1)}, []int64{2}, false},
		"the watch is stalled":    {[]refitv1alpha1.EtcdBackup{backup(1, "9", 1)}, []refitv1alpha1.EtcdBackup{backup(1, "10", 2)}, []int64{2}, false},
		"only the watch has one":  {[]refitv1alpha1.EtcdBackup{backup(1, "11", 1)}, nil, []int64{1}, false},
		"only the reading has it": {[]refitv1alpha1.EtcdBackup{backup(1, "11", 1)}, []refitv1alpha1.EtcdBackup{backup(2, "10", 3)}, []int64{1, 3}, true},
	} {
		t.Run(situation, func(t *testing.T) {
			w := readOf(&kept{}, "cp-1")
			w.watched[reflect.TypeFor[*refitv1alpha1.EtcdBackup]()] = store[refitv1alpha1.EtcdBackup]{&test.watched}
			w.watched[reflect.TypeFor[*refitv1alpha1.BackupStore]()] = store[refitv1alpha1.BackupStore]{&[]refitv1alpha1.BackupStore{}}
			w.last.backups, w.lastAt = test.read, w.lastAt.Add(-time.Minute)
			s := &cluster.Snapshot{Operation: op}
			w.mergeBackups(s)
			var got []int64
			for _, b := range s.Backups {
				got = append(got, b.Status.Attempt)
			}
			if !slices.Equal(got, test.want) || w.changed != test.again {
				t.Errorf("the attempts are %v and the cluster is read again: %t, want %v and %t", got, w.changed, test.want, test.again)
			}
		})
	}
}

func TestStoreThatOnlyTheReadingHasCounts(t *testing.T) {
	w := readOf(&kept{}, "cp-1")
	w.watched[reflect.TypeFor[*refitv1alpha1.EtcdBackup]()] = store[refitv1alpha1.EtcdBackup]{&[]refitv1alpha1.EtcdBackup{}}
	w.watched[reflect.TypeFor[*refitv1alpha1.BackupStore]()] = store[refitv1alpha1.BackupStore]{&[]refitv1alpha1.BackupStore{}}
	w.last.stores = []refitv1alpha1.BackupStore{{ObjectMeta: named("local", "10")}}
	s := &cluster.Snapshot{Operation: operationOf(operation())}
	if w.mergeBackups(s); s.BackupStore("local") == nil {
		t.Error("a store that the watch has missed does not exist")
	}
}
