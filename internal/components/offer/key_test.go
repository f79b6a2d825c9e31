package offer

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// TestDigestsOfSecretValues: whoever knows the digest and everything else must not find the value
// by trying.
func TestDigestsOfSecretValues(t *testing.T) {
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {pin: {{ .Values.pin | quote }}}\n"
	digest := func(key string, fromSecret bool) string {
		return computed(t, template, func(in *Input) {
			in.User, in.Key = map[string]any{"pin": "1234"}, []byte(key)
			if fromSecret {
				in.Spec.ValuesFrom = []refitv1alpha1.ValuesSource{{Secret: "pin"}}
			}
		}).Digest
	}
	first, again := digest("a", true), digest("a", true)
	if first != again || first == digest("b", true) {
		t.Error("the digest of secret values does not depend on the key")
	}
	if digest("a", false) != digest("", false) || digest("a", false) == digest("a", true) {
		t.Error("the digest of public values depends on the key")
	}
	if d := digest("a", true); !strings.HasPrefix(d, "sha256:") || len(d) != 71 { // as the API requires
		t.Errorf("the digest is %q", d)
	}
}

func TestTheKeyOfDigests(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	first, err := EnsureDigestKey(t.Context(), c)
	if err != nil || len(first) != 32 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	if second, err := EnsureDigestKey(t.Context(), c); err != nil || !bytes.Equal(first, second) {
		t.Errorf("another key: %v", err)
	}
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: keySecret}}
	if _, err := EnsureDigestKey(t.Context(), fake.NewClientBuilder().WithObjects(empty).Build()); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("an empty key: %v", err)
	}
}
