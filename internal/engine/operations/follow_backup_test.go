package operations_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// The API server is unreachable for a while: the backup continues on its node, and so does the
// command.
func TestFollowBackupOutlivesTheAPIServer(t *testing.T) {
	b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly", UID: "u"}}
	objects := operationstest.NewClient(t, b)
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Bool
		flaky := interceptor.NewClient(objects, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if away.Load() {
					return errors.New("connection refused")
				}
				return c.Get(ctx, key, object, options...)
			},
		})
		begun := time.Now()
		unreachable := 0
		report := func(b *cliv1alpha1.Backup, _ time.Time) error {
			away.Store(time.Since(begun) < 5*time.Second)
			if !b.UnreachableSince.IsZero() {
				unreachable++
			}
			if time.Since(begun) == 7*time.Second {
				store(t, objects, "nightly")
			}
			return nil
		}
		cluster := &operations.Cluster{Client: flaky, Name: "prod", Now: time.Now}
		last, err := cluster.FollowBackup(t.Context(), b, report)
		if err != nil || last.State != cliv1alpha1.BackupSucceeded || !last.UnreachableSince.IsZero() || unreachable != 5 {
			t.Errorf("%+v, %v; unreachable in %d reports", last, err, unreachable)
		}
	})
}

func TestFollowBackupEndsWithADeletedBackup(t *testing.T) {
	b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}
	cluster := &operations.Cluster{Client: operationstest.NewClient(t), Name: "prod", Now: time.Now}
	if _, err := cluster.FollowBackup(t.Context(), b, nil); err == nil {
		t.Error("it follows a backup that does not exist")
	}
}

func store(t *testing.T, objects client.Client, name string) {
	t.Helper()
	b := &refitv1alpha1.EtcdBackup{}
	if err := objects.Get(t.Context(), client.ObjectKey{Name: name}, b); err != nil {
		t.Fatal(err)
	}
	at := metav1.NewTime(time.Now())
	b.Status.ReadBack = &at
	if err := objects.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}
