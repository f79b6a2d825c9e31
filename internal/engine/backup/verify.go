package backup

import (
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Verify reads all of a backup and compares it with its manifest and with what is expected. With
// identities it also decrypts and decompresses every part, which proves that they can.
//
// Without a recorded digest of the manifest, Verify cannot notice a backup that was forged as a
// whole.
func Verify(ctx context.Context, from Target, expected backup.Expected, identities []age.Identity) (Stored, error) {
	stored, err := Find(ctx, from, expected)
	if err != nil {
		return Stored{}, err
	}
	for _, part := range stored.Manifest.Parts {
		if err := verifyPart(ctx, from, stored.Manifest, part, identities); err != nil {
			return Stored{}, err
		}
	}
	return stored, nil
}

// Find returns a complete backup, without reading its parts.
func Find(ctx context.Context, from Target, expected backup.Expected) (Stored, error) {
	if err := errors.Join(backup.ValidatePrefix(from.Prefix), expected.ID.Validate()); err != nil {
		return Stored{}, err
	}
	attempt, err := from.attempt(ctx, expected.ID)
	if err != nil {
		return Stored{}, err
	}
	if len(attempt.Objects) == 0 {
		return Stored{}, fmt.Errorf("cannot find %s: %w", expected.ID, backup.ErrAbsent)
	}
	digest := expected.ManifestDigest
	if _, ok := attempt.Objects[backup.ManifestName(digest)]; digest != "" && !ok {
		if other, err := attempt.Manifest(); err == nil {
			return Stored{}, fmt.Errorf("%w: the digest of the manifest of %s is %q instead of %q", backup.ErrOther, expected.ID, other, digest)
		}
		return Stored{}, fmt.Errorf("%w: the recorded manifest of %s is missing", backup.ErrIncomplete, expected.ID)
	}
	if digest == "" {
		if digest, err = attempt.Manifest(); err != nil {
			return Stored{}, err
		}
	}
	m, err := from.manifest(ctx, expected.ID, digest)
	if err != nil {
		return Stored{}, err
	}
	if err := errors.Join(expected.Check(m, digest), attempt.Complete(m)); err != nil {
		return Stored{}, err
	}
	return Stored{m, digest}, nil
}

func verifyPart(ctx context.Context, from Target, m *backup.Manifest, part backup.Part, identities []age.Identity) error {
	key := backup.Key(from.Prefix, m.ID(), part.Name)
	if len(identities) == 0 {
		return compare(ctx, from, key, part.Stored)
	}
	return Open(ctx, from, m, part, identities, func(plain io.Reader) error {
		_, err := io.Copy(io.Discard, plain)
		return err
	})
}

// Open passes the plain bytes of a part to read. They are proven only if Open returns nil: then
// read has returned nil, and the part has ended as its manifest states.
func Open(ctx context.Context, from Target, m *backup.Manifest, part backup.Part, identities []age.Identity, read func(io.Reader) error) error {
	body, err := from.Store.Get(ctx, backup.Key(from.Prefix, m.ID(), part.Name))
	if err != nil {
		return err
	}
	defer body.Close()
	plain, err := seal.NewReader(body, m.Header(part.Name), part, identities)
	if err != nil {
		return err
	}
	defer plain.Close()
	if err := read(plain); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, plain) // the digests are compared at the end
	return err
}
