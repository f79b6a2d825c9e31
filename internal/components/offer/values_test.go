package offer

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

func TestTextsOfSecretValues(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "db"},
		Data:       map[string][]byte{"values.yaml": []byte("db: {password: hunter2, port: 5432, tls: true, hosts: [a.test], n: 1}")},
	}
	spec := &refitv1alpha1.ComponentSpec{
		Values: &runtime.RawExtension{Raw: []byte(`{"public":"value"}`)}, ValuesFrom: []refitv1alpha1.ValuesSource{{Secret: "db"}},
	}
	values, texts, err := UserValues(t.Context(), fake.NewClientBuilder().WithObjects(secret).Build(), spec)
	slices.Sort(texts)
	if err != nil || values["public"] != "value" || !slices.Equal(texts, []string{"5432", "a.test", "hunter2"}) {
		t.Errorf("%v, %q, %v", values, texts, err)
	}
}

// TestADigestCoversTheAnswersOfAForm: the values of the form are in one Secret, each component has
// a key of its own.
func TestADigestCoversTheAnswersOfAForm(t *testing.T) {
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {host: {{ .Values.host | quote }}}\n"
	digest := func(mine, others string) string {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: form.SecretName}, Data: map[string][]byte{
			form.AnswersKey: []byte("{}"), form.ValuesKey("app"): []byte(mine), form.ValuesKey("other"): []byte(others),
		}}
		spec := refitv1alpha1.ComponentSpec{ValuesFrom: []refitv1alpha1.ValuesSource{{Secret: form.SecretName, Key: form.ValuesKey("app")}}}
		values, _, err := UserValues(t.Context(), fake.NewClientBuilder().WithObjects(secret).Build(), &spec)
		if err != nil {
			t.Fatal(err)
		}
		return computed(t, template, func(in *Input) { in.Spec, in.User, in.Key = spec, values, []byte("key") }).Digest
	}
	first := digest("host: a.test", "x: 1")
	if first == "" || first != digest("host: a.test", "x: 2") {
		t.Error("the digest depends on the values of other components")
	}
	if first == digest("host: b.test", "x: 1") {
		t.Error("the digest does not cover the answers")
	}
	missing := &refitv1alpha1.ComponentSpec{ValuesFrom: []refitv1alpha1.ValuesSource{{Secret: form.SecretName, Key: "other.yaml"}}}
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: form.SecretName}}
	if _, _, err := UserValues(t.Context(), fake.NewClientBuilder().WithObjects(empty).Build(), missing); !errors.Is(err, ErrValuesMissing) {
		t.Errorf("without the key: %v", err)
	}
}
