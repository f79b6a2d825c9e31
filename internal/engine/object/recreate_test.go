package object_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/object"
)

func settings(name string, uid types.UID) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid}}
}

// TestRecreateAnObjectThatDoesNotExist: "a" was there when the objects were saved.
func TestRecreateAnObjectThatDoesNotExist(t *testing.T) {
	old := []object.Identity{{Namespace: "shop", Name: "a", UID: "a-1"}, {Namespace: "shop", Name: "b", UID: "b-1"}}
	for situation, c := range map[string]struct {
		deleting types.UID
		fails    bool
		deletes  []types.UID
	}{
		"somebody else has deleted it":                     {deletes: []types.UID{"b-1"}},
		"an earlier try has deleted it":                    {deleting: "a-1", fails: true},
		"somebody else has deleted it while it was killed": {deleting: "b-1"},
	} {
		t.Run(situation, func(t *testing.T) {
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
			mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
			controller := interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
				if err := c.Delete(ctx, o); err != nil {
					return err
				}
				return c.Create(ctx, settings(o.GetName(), types.UID(o.GetName()+"-2")))
			}}
			e := object.Editor{Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).
				WithObjects(settings("b", "b-1")).WithInterceptorFuncs(controller).Build()}
			var saved []types.UID
			synctest.Test(t, func(t *testing.T) {
				err := e.Recreate(t.Context(), refitv1alpha1.RecipeObjects{Kind: "ConfigMap"}, object.Recreation{
					Old: old, Deleting: c.deleting, Save: func(uid types.UID) error { saved = append(saved, uid); return nil },
				})
				if _, unready := errors.AsType[*object.NotReadyError](err); unready != c.fails || (err != nil) != c.fails {
					t.Errorf("the result is %v", err)
				}
			})
			if !slices.Equal(saved, c.deletes) {
				t.Errorf("it saved that it deletes %v, want %v", saved, c.deletes)
			}
			var b corev1.ConfigMap
			if err := e.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "b"}, &b); err != nil || !c.fails && b.UID != "b-2" {
				t.Errorf("the next object has the UID %s: %v", b.UID, err)
			}
		})
	}
}
