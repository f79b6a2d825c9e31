package components

import (
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

func TestTheSecretOfAForm(t *testing.T) {
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	filled := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "filled"}}
	filled.Spec.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: "other"}, {Secret: form.SecretName, Key: form.ValuesKey("filled")}}
	other := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(filled, other).Build()
	r := NewReconciler(store, &rest.Config{}, Options{Log: slog.New(slog.DiscardHandler)})
	key := client.ObjectKey{Namespace: Namespace, Name: form.SecretName}
	var secret corev1.Secret
	if err := r.ensureForm(t.Context(), releases{verified: []verified{{}}}); err != nil || store.Get(t.Context(), key, &secret) == nil {
		t.Errorf("without a form: %v", err)
	}
	with := releases{verified: []verified{{}, {form: &refitv1alpha1.ComponentForm{}}}}
	if err := r.ensureForm(t.Context(), with); err != nil {
		t.Fatal(err)
	}
	if err := store.Get(t.Context(), key, &secret); err != nil {
		t.Fatal(err)
	}
	secret.Data = map[string][]byte{form.AnswersKey: []byte("{}")}
	if err := store.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
	if err := r.ensureForm(t.Context(), with); err != nil {
		t.Fatal(err)
	}
	if err := store.Get(t.Context(), key, &secret); err != nil || len(secret.Data) != 1 {
		t.Errorf("the answers are gone: %v", err)
	}
	selector, err := labels.Parse(Followed)
	if err != nil || !selector.Matches(labels.Set(secret.Labels)) || !selector.Matches(labels.Set{"owner": "helm"}) || selector.Matches(labels.Set{"owner": "x"}) {
		t.Errorf("%q does not select the Secret: %v", Followed, err)
	}
	changed := &metav1.PartialObjectMetadata{ObjectMeta: secret.ObjectMeta}
	if got := r.ofSecret(t.Context(), changed); len(got) != 1 || got[0].Name != "filled" {
		t.Errorf("queued %v", got)
	}
	changed.Namespace = "default"
	if got := r.ofSecret(t.Context(), changed); len(got) > 0 {
		t.Errorf("queued %v for a Secret of another namespace", got)
	}
}
