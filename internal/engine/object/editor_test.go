package object_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/object"
)

// TestObjectsAfterOneThatDoesNotBecomeReady: a rollback restores all of them.
func TestObjectsAfterOneThatDoesNotBecomeReady(t *testing.T) {
	for situation, goesOn := range map[string]bool{"in an upgrade": false, "in a rollback": true} {
		t.Run(situation, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{appsv1.SchemeGroupVersion})
			mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
			builder := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper)
			saved := map[types.UID]any{}
			for _, name := range []string{"a", "b", "c"} {
				builder.WithObjects(&appsv1.Deployment{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}, Spec: appsv1.DeploymentSpec{MinReadySeconds: 2},
				})
				saved[types.UID(name)] = int64(1)
			}
			e := object.Editor{Client: builder.Build()}
			var left []string
			if goesOn {
				e.Unready = func(unready *object.NotReadyError) { left = append(left, unready.Object) }
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				objects := refitv1alpha1.RecipeObjects{
					Kind: "Deployment.apps", Until: refitv1alpha1.StateReady, OneByOne: true, Limit: metav1.Duration{Duration: 2 * limit},
				}
				started := time.Now()
				err := e.Unpatch(ctx, objects, "/spec/minReadySeconds", int64(2), saved)
				if (err == nil) != goesOn || goesOn && time.Since(started) > limit*3/4 {
					t.Errorf("the result after %s is %v", time.Since(started), err)
				}
			})
			for _, name := range []string{"a", "b", "c"} {
				var d appsv1.Deployment
				if err := e.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, &d); err != nil {
					t.Fatal(err)
				}
				if restored := d.Spec.MinReadySeconds == 1; restored != (goesOn || name == "a") {
					t.Errorf("%s is restored: %v", name, restored)
				}
			}
			if goesOn && (len(left) != 1 || left[0] != "Deployment shop/a") {
				t.Errorf("it left %v", left)
			}
		})
	}
}
