package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Listed is an attempt in a store. Manifest and Digest are set if its manifest is valid.
type Listed struct {
	Stored
	ID    backup.ID
	State backup.State
	// Problem is why the attempt is not complete, or unknown.
	Problem error
	// Size is the size of all its objects.
	Size int64
	// Modified is when the newest object was written.
	Modified time.Time

	attempt backup.Attempt
}

// List returns all attempts of a store, by UID and attempt. It reads manifests and no parts.
func List(ctx context.Context, from Target) ([]Listed, error) {
	if err := backup.ValidatePrefix(from.Prefix); err != nil {
		return nil, err
	}
	dir := from.Prefix
	if dir != "" {
		dir += "/"
	}
	objects, err := from.Store.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	attempts := backup.Group(from.Prefix, objects)
	all := make([]Listed, 0, len(attempts))
	for _, attempt := range attempts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("cannot list backups: %w", err)
		}
		all = append(all, describe(ctx, from, attempt))
	}
	return all, nil
}

func describe(ctx context.Context, from Target, attempt backup.Attempt) Listed {
	l := Listed{ID: attempt.ID, Modified: attempt.Modified, attempt: attempt}
	for _, object := range attempt.Objects {
		l.Size += object.Size
	}
	for _, object := range attempt.Leftovers {
		l.Size += object.Size
	}
	digest, err := attempt.Manifest()
	if errors.Is(err, backup.ErrIncomplete) {
		l.State, l.Problem = backup.Unfinished, err
		return l
	}
	var m *backup.Manifest
	if err == nil {
		m, err = from.manifest(ctx, attempt.ID, digest)
	}
	if err == nil {
		l.Manifest, l.Digest = m, digest
		err = attempt.Complete(m)
	}
	l.State, l.Problem = stateOf(err), err
	return l
}

// stateOf returns the state of an attempt with a manifest.
func stateOf(err error) backup.State {
	if err == nil {
		return backup.Complete
	}
	for _, damage := range []error{backup.ErrCorrupt, backup.ErrIncomplete, backup.ErrOther} {
		if errors.Is(err, damage) {
			return backup.Damaged
		}
	}
	return backup.Unknown
}
