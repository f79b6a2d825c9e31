package backup

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Objects is a store. store.Objects has the contract of each method.
type Objects interface {
	Put(ctx context.Context, key string, from io.Reader) error
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	Stat(ctx context.Context, key string) (backup.Object, error)
	List(ctx context.Context, prefix string) ([]backup.Object, error)
	Delete(ctx context.Context, key string) error
}

// Target is where the backups of a cluster are.
type Target struct {
	Store Objects
	// Prefix is the beginning of all keys. Each cluster has its own.
	Prefix string
}

// Stored is a backup in a store.
type Stored struct {
	Manifest *backup.Manifest
	// Digest is the digest of the manifest. Record it outside of the store: it proves the origin of
	// the backup.
	Digest string
}

// attempt lists the objects of an attempt.
func (t Target) attempt(ctx context.Context, id backup.ID) (backup.Attempt, error) {
	objects, err := t.Store.List(ctx, backup.Dir(t.Prefix, id))
	if err != nil {
		return backup.Attempt{}, err
	}
	for _, attempt := range backup.Group(t.Prefix, objects) {
		if attempt.ID == id {
			return attempt, nil
		}
	}
	return backup.Attempt{ID: id}, nil
}

// manifest reads and decodes the manifest with a digest.
func (t Target) manifest(ctx context.Context, id backup.ID, digest string) (*backup.Manifest, error) {
	body, err := t.Store.Get(ctx, backup.Key(t.Prefix, id, backup.ManifestName(digest)))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, backup.MaxManifest+1))
	if err != nil {
		return nil, err
	}
	m, err := backup.DecodeManifest(raw, digest)
	if err != nil {
		return nil, err
	}
	// A manifest that was copied to another attempt has a valid digest, too.
	return m, backup.Expected{ID: id}.Check(m, digest)
}

// remove deletes all objects of an attempt: the manifest first, so that what is left after an
// interruption is not complete.
func (t Target) remove(ctx context.Context, attempt backup.Attempt) error {
	var manifests, others []string
	for name, object := range attempt.Objects {
		if _, ok := backup.ManifestDigest(name); ok {
			manifests = append(manifests, object.Key)
		} else {
			others = append(others, object.Key)
		}
	}
	for _, leftover := range attempt.Leftovers {
		others = append(others, leftover.Key)
	}
	for _, keys := range [][]string{manifests, others} {
		var failed []error
		for _, key := range keys {
			failed = append(failed, t.Store.Delete(ctx, key))
		}
		if err := errors.Join(failed...); err != nil {
			return fmt.Errorf("cannot delete the backup %s: %w", attempt.ID, err)
		}
	}
	return nil
}
