package offer

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The Secret with the key of digests that cover values from Secrets. Digests are public: without a
// key, a value that is easy to guess could be found by trying.
const (
	keySecret  = "refit-digest-key" //nolint:gosec // a name
	keyOfKey   = "key"
	digestSize = 32
)

// DigestKey returns the key of digests that cover values from Secrets.
func DigestKey(ctx context.Context, c client.Reader) ([]byte, error) {
	var secret corev1.Secret
	if err := c.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: keySecret}, &secret); err != nil {
		return nil, fmt.Errorf("cannot read the Secret %s/%s: %w", Namespace, keySecret, err)
	}
	if len(secret.Data[keyOfKey]) < digestSize {
		return nil, fmt.Errorf("the Secret %s/%s has no key of at least %d bytes: delete it, so that refit-components creates it again",
			Namespace, keySecret, digestSize)
	}
	return secret.Data[keyOfKey], nil
}

// EnsureDigestKey returns the key, and creates it if there is none.
func EnsureDigestKey(ctx context.Context, c client.Client) ([]byte, error) {
	key, err := DigestKey(ctx, c)
	if !apierrors.IsNotFound(err) {
		return key, err
	}
	key = make([]byte, digestSize)
	_, _ = rand.Read(key) // never fails
	err = c.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: keySecret}, Data: map[string][]byte{keyOfKey: key},
	})
	if apierrors.IsAlreadyExists(err) {
		return DigestKey(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create the Secret %s/%s: %w", Namespace, keySecret, err)
	}
	return key, nil
}
