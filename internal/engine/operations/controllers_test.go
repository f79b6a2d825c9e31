package operations_test

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

// Controllers that hold the Lease count, wherever they run. A Lease that was not renewed for long
// is not held.
func TestControllersByTheirLease(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		age  time.Duration // 0: there is no Lease
		want string
	}{
		"nobody ever led":         {0, ""},
		"a Lease that is renewed": {operations.LeaseValidFor / 2, "laptop"},
		"a Lease that expired":    {2 * operations.LeaseValidFor, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &operations.Cluster{
				Client: operationstest.NewClient(t), Name: "prod", Command: "refit", Now: func() time.Time { return now },
				Controller: client.ObjectKey{Namespace: "refit-system", Name: "refit-controller"},
			}
			if c.age > 0 {
				holder, renewed := "laptop_1234", metav1.NewMicroTime(now.Add(-c.age))
				lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed}}
				lease.Namespace, lease.Name = cluster.Controller.Namespace, cluster.Controller.Name
				if err := cluster.Client.Create(t.Context(), lease); err != nil {
					t.Fatal(err)
				}
			}
			found, err := cluster.Controllers(t.Context())
			if err != nil || found.Leader != c.want || (cluster.Missing(found) == nil) != (c.want != "") {
				t.Errorf("%+v, %v, want %q", found, err, c.want)
			}
		})
	}
}
