package operations_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// An upgrade is not started if nothing would execute it. A user who may not read the controllers
// can still start one.
func TestAnUpgradeNeedsControllers(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	key := client.ObjectKey{Namespace: "refit-system", Name: "refit-controller"}
	deployment := func(ready int32) client.Object {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Status: appsv1.DeploymentStatus{AvailableReplicas: ready},
		}
	}
	holder, renewed := "laptop_1234", metav1.NewMicroTime(now)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed},
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, key.Name, errors.New("no"))
	for situation, c := range map[string]struct {
		objects   []client.Object
		failure   error // of each read
		note, err string
	}{
		"the controller is ready":                 {[]client.Object{deployment(1)}, nil, "", ""},
		"no controller is installed":              {nil, nil, "", "Run `refit install`, or use --standalone"},
		"the controller is not ready":             {[]client.Object{deployment(0)}, nil, "", "Check `kubectl -n refit-system get pods`"},
		"another process leads":                   {[]client.Object{lease}, nil, "", ""},
		"the user may not read them":              {nil, forbidden, "Cannot determine whether there are controllers in prod", ""},
		"the API server fails during the request": {nil, errors.New("EOF"), "", "cannot get the Deployment of the controllers"},
	} {
		reads := operationstest.NewClient(t, c.objects...)
		if c.failure != nil {
			reads = interceptor.NewClient(reads, interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return c.failure
				},
			})
		}
		cluster := &operations.Cluster{Client: reads, Name: "prod", Command: "refit", Now: func() time.Time { return now }, Controller: key}
		note, err := cluster.ExpectControllers(t.Context())
		if !strings.HasPrefix(note, c.note) || (c.note == "") != (note == "") {
			t.Errorf("%s: note %q", situation, note)
		}
		if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}
