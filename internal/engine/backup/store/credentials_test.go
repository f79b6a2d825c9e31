package store

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestOnlySecretsOfBackupsAreUsed(t *testing.T) {
	secret := func(namespace, kind string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "offsite"}, Type: corev1.SecretType(kind), Data: map[string][]byte{"accessKey": []byte("a")}}
	}
	if got, err := SecretCredentials(secret(refitv1alpha1.BackupNamespace, refitv1alpha1.BackupCredentialsType)); err != nil || got[KeyAccessKey] != "a" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, refused := range []*corev1.Secret{
		secret(refitv1alpha1.BackupNamespace, "Opaque"), secret("kube-system", refitv1alpha1.BackupCredentialsType),
		secret("kube-system", string(corev1.SecretTypeServiceAccountToken)),
	} {
		if _, err := SecretCredentials(refused); node.FailureOf(err).Reason != "SecretRefused" {
			t.Errorf("%s of type %s: %v", refused.Namespace, refused.Type, err)
		}
	}
}
