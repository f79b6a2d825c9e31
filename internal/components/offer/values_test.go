package offer

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
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
