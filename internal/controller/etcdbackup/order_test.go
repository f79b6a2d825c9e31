package etcdbackup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var now = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func clientOf(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{refitv1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.EtcdBackup{}, &refitv1alpha1.ClusterUpgrade{}).Build()
}

// backupOrder is the order to cp-1 to take an attempt of a backup.
func backupOrder(uid types.UID, phase refitv1alpha1.BackupPhase) *refitv1alpha1.NodeUpgrade {
	at := metav1.NewTime(now.Add(-time.Minute))
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	u.Spec = refitv1alpha1.NodeUpgradeSpec{
		Format: 2, Permit: refitv1alpha1.PermitBackup, Sequence: 3, NodeUID: "node-1", OrderTime: &at,
		Backup: refitv1alpha1.BackupRef{Name: "nightly", UID: uid, Attempt: 1, Store: "local"},
	}
	u.Status.Backup = &refitv1alpha1.NodeBackupStatus{UID: uid, Attempt: 1, Phase: phase}
	return u
}

func TestOrderOfADeletedBackupIsWithdrawn(t *testing.T) {
	recreated := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "new"}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
	same := recreated.DeepCopy()
	same.UID = "old"
	for situation, test := range map[string]struct {
		exists *refitv1alpha1.EtcdBackup
		phase  refitv1alpha1.BackupPhase
		want   refitv1alpha1.Permit
	}{
		"it was deleted":                    {nil, refitv1alpha1.BackupRunning, refitv1alpha1.PermitHold},
		"it was deleted and created again":  {recreated, refitv1alpha1.BackupRunning, refitv1alpha1.PermitHold},
		"it was deleted after it had ended": {nil, refitv1alpha1.BackupSucceeded, refitv1alpha1.PermitBackup},
		"it exists":                         {same, refitv1alpha1.BackupRunning, refitv1alpha1.PermitBackup},
	} {
		t.Run(situation, func(t *testing.T) {
			objects := []client.Object{backupOrder("old", test.phase)}
			if test.exists != nil {
				objects = append(objects, test.exists)
			}
			c := clientOf(t, objects...)
			r := &Reconciler{Cache: c, Client: c, Now: func() time.Time { return now }}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: "nightly"}}); err != nil {
				t.Fatal(err)
			}
			order := &refitv1alpha1.NodeUpgrade{}
			if err := c.Get(t.Context(), types.NamespacedName{Name: "cp-1"}, order); err != nil {
				t.Fatal(err)
			}
			if order.Spec.Permit != test.want {
				t.Errorf("the permit is %s, want %s", order.Spec.Permit, test.want)
			}
		})
	}
}

// TestNodeThatWasClaimedSinceGetsNoOrder has a cache that lags behind the claim of the only node.
func TestNodeThatWasClaimedSinceGetsNoOrder(t *testing.T) {
	started := metav1.NewTime(now)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1", UID: "node-1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	report := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	report.Spec.Request = now.Unix()
	report.Status = refitv1alpha1.NodeReportStatus{
		Answered: now.Unix(), NodeUID: "node-1", MachineID: "m", OrderFormat: 2, Etcd: &refitv1alpha1.EtcdFacts{Healthy: true, Leader: true, Members: []string{"cp-1"}},
	}
	backup := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "b"}, Spec: refitv1alpha1.EtcdBackupSpec{Store: "local"}}
	backup.Status.Node, backup.Status.Attempt, backup.Status.StartTime = "cp-1", 1, &started
	store := &refitv1alpha1.BackupStore{ObjectMeta: metav1.ObjectMeta{Name: "local"}}
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}}
	cached := clientOf(t, node, report, backup, store, operation)
	claimed := operation.DeepCopy()
	claimed.Status.Active = []string{"cp-1"}
	for situation, test := range map[string]struct {
		api   client.Client
		order bool
	}{
		"the node is free":    {clientOf(t, node, report, backup, store, operation), true},
		"the node is claimed": {clientOf(t, node, report, backup, store, claimed), false},
	} {
		t.Run(situation, func(t *testing.T) {
			r := &Reconciler{Cache: cached, Client: test.api, Now: func() time.Time { return now }}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: "nightly"}}); err != nil {
				t.Fatal(err)
			}
			err := test.api.Get(t.Context(), types.NamespacedName{Name: "cp-1"}, &refitv1alpha1.NodeUpgrade{})
			if ordered := err == nil; ordered != test.order {
				t.Errorf("the order was given: %v, want %v", ordered, test.order)
			}
		})
	}
}
