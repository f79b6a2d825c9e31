package oci

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"oras.land/oras-go/v2/errdef"

	"github.com/refit-dev/refit/internal/engine/artifact"
)

// PushRelease stores a ClusterRelease under a tag, and returns its digest. It fails with ErrExists
// if the tag has another one.
func (r *Registry) PushRelease(ctx context.Context, to Reference, d Document) (digest string, err error) {
	return r.push(ctx, releases, to, d)
}

// PullRelease reads a ClusterRelease, and returns the digest of the artifact, too. It does not
// verify the signature.
func (r *Registry) PullRelease(ctx context.Context, from Reference) (d Document, digest string, err error) {
	return r.pull(ctx, releases, from)
}

// PushKey stores a public key in a repository, under a tag with its fingerprint.
func (r *Registry) PushKey(ctx context.Context, to Reference, key artifact.PublicKey) error {
	text, err := artifact.MarshalPublic(key.Key)
	if err != nil {
		return err
	}
	if to, err = to.Tagged(KeyTag(key.ID)); err != nil {
		return err
	}
	_, err = r.push(ctx, keys, to, Document{Title: "refit-release.pem", Text: text})
	return err
}

// Key reads the public key with a fingerprint from a repository. It accepts no other key, whatever
// the registry returns.
func (r *Registry) Key(ctx context.Context, from Reference, fingerprint string) (artifact.PublicKey, error) {
	from, err := from.Tagged(KeyTag(fingerprint))
	if err != nil {
		return artifact.PublicKey{}, err
	}
	found, _, err := r.pull(ctx, keys, from)
	if err != nil {
		return artifact.PublicKey{}, err
	}
	key, err := artifact.ParsePublic(found.Text)
	if err != nil {
		return artifact.PublicKey{}, fmt.Errorf("cannot read the public key in %s: %w", from, err)
	}
	if key.ID != fingerprint {
		return artifact.PublicKey{}, fmt.Errorf("the key in %s is not the one that you trust: its fingerprint is %s, not %s", from, key.ID, fingerprint)
	}
	return key, nil
}

// KeyTag returns the tag of the key with a fingerprint.
func KeyTag(fingerprint string) string {
	return "key-" + strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(fingerprint)
}

func (r *Registry) push(ctx context.Context, k kind, to Reference, d Document) (digest string, err error) {
	err = r.within(ctx, func(ctx context.Context) error {
		repository, err := r.repository(to)
		if err == nil {
			digest, err = k.push(ctx, repository, to.Tag(), d)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("cannot push to %s: %w", to, explained(err))
	}
	return digest, nil
}

func (r *Registry) pull(ctx context.Context, k kind, from Reference) (d Document, digest string, err error) {
	err = r.within(ctx, func(ctx context.Context) error {
		repository, err := r.repository(from)
		if err == nil {
			d, digest, err = k.pull(ctx, repository, from)
		}
		return err
	})
	if err != nil {
		return Document{}, "", fmt.Errorf("cannot pull %s: %w", from, explained(err))
	}
	return d, digest, nil
}

// explained adds what an error of the registry means.
func explained(err error) error {
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("the registry has no such artifact: %w", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the registry did not respond in time: %w", err)
	}
	return err
}
