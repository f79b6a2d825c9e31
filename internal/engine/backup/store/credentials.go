package store

import (
	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Credentials are the credentials of a store, by key. They are never logged.
type Credentials map[string]string

// The keys of credentials, in a Secret and in a file on a host.
const (
	KeyAccessKey      = "accessKey"
	KeySecretKey      = "secretKey"
	KeySessionToken   = "sessionToken"
	KeyServiceAccount = "serviceAccount" // the JSON key file of a Google service account
	KeyCA             = "ca"             // PEM; without it, the certificates of the system
)

// String hides the credentials from logs.
func (Credentials) String() string { return "credentials" }

// SecretCredentials returns the credentials in a Secret. Any Secret of another type is refused: an
// administrator's kubeconfig can read all of them.
func SecretCredentials(secret *corev1.Secret) (Credentials, error) {
	if secret.Namespace != refitv1alpha1.BackupNamespace || secret.Type != refitv1alpha1.BackupCredentialsType {
		return nil, node.ManualIntervention("SecretRefused", nil,
			"Create the Secret with --type="+refitv1alpha1.BackupCredentialsType+" in the namespace "+refitv1alpha1.BackupNamespace,
			"Secret %s/%s has the type %s, and only %s in the namespace %s is used",
			secret.Namespace, secret.Name, secret.Type, refitv1alpha1.BackupCredentialsType, refitv1alpha1.BackupNamespace)
	}
	out := Credentials{}
	for key, value := range secret.Data {
		out[key] = string(value)
	}
	return out, nil
}
