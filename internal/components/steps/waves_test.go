package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// TestARollbackWhoseObjectsDoNotBecomeReady: the steps after it may be what they need.
func TestARollbackWhoseObjectsDoNotBecomeReady(t *testing.T) {
	frozen := errors.New("the freeze has reached its limit")
	for situation, c := range map[string]struct {
		expired error
		want    error
	}{
		"within the limit of the step": {},
		"at the limit of a freeze":     {expired: frozen, want: frozen},
	} {
		t.Run(situation, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
			live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hunter2"}}
			content := &unstructured.Unstructured{}
			content.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			content.SetName(live.Name)
			r := runOf("1")
			r.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithRESTMapper(mapper).WithObjects(live).Build()
			r.Component.Release.Namespace, r.secret, r.Waiting = "shop", []string{"hunter2"}, func(string) {}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Minute), c.expired)
				defer cancel()
				err := r.restored(ctx, component.Step{Name: "undo-wave-rest"}, []helm.Object{{Content: content}}, helm.Wave{Last: true})
				if (err == nil) != (c.want == nil) || c.want != nil && !errors.Is(context.Cause(ctx), c.want) {
					t.Errorf("the result is %v", err)
				}
			})
			if c.want == nil && (len(r.Left) != 1 || !strings.HasPrefix(r.Left[0], "undo-wave-rest: Deployment shop/(masked) is not ready after 1m0s: ")) {
				t.Errorf("it left %q", r.Left)
			}
		})
	}
}
