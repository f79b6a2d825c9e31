package etcdbackup

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

func ofOperation(uid types.UID, operation, hop string, age time.Duration) refitv1alpha1.EtcdBackup {
	at := metav1.NewTime(time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC).Add(-age))
	b := refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{UID: uid, CreationTimestamp: at, Labels: map[string]string{
		refitv1alpha1.LabelOperation: operation, refitv1alpha1.LabelHop: hop,
	}}}
	b.Status.Attempt, b.Status.ReadBack, b.Status.Drilled = 2, &at, &at
	return b
}

func TestOperationsRelyOnTheNewestBackupOfEachHop(t *testing.T) {
	open, ended := refitv1alpha1.ClusterUpgrade{}, refitv1alpha1.ClusterUpgrade{}
	open.UID, ended.UID = "open", "ended"
	ended.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	failed := ofOperation("failed", "open", "v1.36.3", 0)
	failed.Status.Drilled = nil
	deleted := ofOperation("deleted", "open", "v1.36.3", 0)
	deleted.Status.Deleted = deleted.Status.ReadBack
	relied := Relied([]refitv1alpha1.EtcdBackup{
		ofOperation("first", "open", "v1.35.4", 3*time.Hour), ofOperation("refuted", "open", "v1.36.3", 2*time.Hour),
		ofOperation("second", "open", "v1.36.3", time.Hour), failed, deleted, ofOperation("before", "ended", "v1.35.4", 9*time.Hour),
		ofOperation("gone", "deleted", "v1.35.4", 9*time.Hour), ofOperation("nightly", "", "", 0),
	}, []refitv1alpha1.ClusterUpgrade{open, ended})
	for uid, want := range map[string]bool{
		"first": true, "refuted": false, "second": true, "failed": false, "before": false, "gone": false, "nightly": false, "deleted": false,
	} {
		if got := relied(backup.ID{UID: uid, Attempt: 2}); got != want {
			t.Errorf("%s: relied on %t", uid, got)
		}
		if relied(backup.ID{UID: uid, Attempt: 1}) {
			t.Errorf("%s: relied on an attempt that failed", uid)
		}
	}
}
