package installation

import (
	"context"
	"errors"
	"fmt"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/oci"
)

// Trust are the keys of a publisher of ClusterReleases. The publisher's repository has the keys;
// the user has their fingerprints from elsewhere.
type Trust struct {
	Repository   string // oci://HOST/REPOSITORY
	Fingerprints []string
	Registry     oci.Registry
}

func (t *Trust) check() error {
	switch {
	case t.Repository == "" && len(t.Fingerprints) == 0:
		return nil
	case t.Repository == "":
		return exit.Usagef("--fingerprint requires --trust: the repository that has the key")
	case len(t.Fingerprints) == 0:
		return exit.Usagef("--trust requires --fingerprint: the fingerprint of the publisher's key, which you must have from another place than the registry")
	}
	at, err := oci.Parse(t.Repository)
	if err != nil {
		return exit.Usagef("--trust: %w", err)
	}
	if !at.IsRepository() {
		return exit.Usagef("--trust: %s has a tag or a digest: name the repository only", at)
	}
	for _, fingerprint := range t.Fingerprints {
		if err := artifact.CheckFingerprint(fingerprint); err != nil {
			return exit.Usagef("--fingerprint: %w", err)
		}
	}
	return nil
}

// read pins each key whose fingerprint the user trusts, and fails if the repository lacks one or
// has another key in its place.
func (t *Trust) read(ctx context.Context, pin func(key artifact.PublicKey, text []byte)) error {
	if t.Repository == "" {
		return nil
	}
	at, err := oci.Parse(t.Repository)
	if err != nil {
		return err
	}
	for _, fingerprint := range t.Fingerprints {
		key, err := t.Registry.Key(ctx, at, fingerprint)
		if errors.Is(err, context.DeadlineExceeded) {
			return exit.TimeoutError{Err: fmt.Errorf("cannot trust %s: %w", at, err)}
		}
		if err != nil {
			return fmt.Errorf("cannot trust %s: %w", at, err)
		}
		text, err := artifact.MarshalPublic(key.Key)
		if err != nil {
			return err
		}
		pin(key, text)
	}
	return nil
}
