package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Request is a backup to store.
type Request struct {
	ID          backup.ID
	ClusterUID  string
	Time        time.Time
	EtcdVersion string
	// Revision, if set, returns etcd's revision. It is called after the parts are written.
	Revision   func() int64
	Recipients []string
	// Drill, if set, can decrypt the backup, too.
	Drill *seal.DrillKey
	// Sources write the parts, in the order of backup.PartNames.
	Sources []Source
}

// Source writes the plain bytes of a part. It ends with its context.
type Source struct {
	Part  string
	Write func(ctx context.Context, to Sink) error
	// Check, if set, verifies what Write has written elsewhere while the part is read back. Without
	// it the backup does not count.
	Check func(ctx context.Context) error
}

// Sink is what a source writes to.
type Sink interface {
	io.Writer
	// Written returns the size and the digest of the bytes that were written so far.
	Written() backup.Content
}

// cleanupTimeout bounds the deletion of a failed attempt. Retention deletes what is left.
const cleanupTimeout = time.Minute

// Store stores a backup. It returns only after everything was read back.
func Store(ctx context.Context, to Target, r Request) (Stored, error) {
	recipients, err := r.check(to)
	if err != nil {
		return Stored{}, err
	}
	existing, err := to.attempt(ctx, r.ID)
	if err != nil {
		return Stored{}, err
	}
	if len(existing.Objects)+len(existing.Leftovers) > 0 {
		return Stored{}, fmt.Errorf("%w: %s", backup.ErrExists, r.ID)
	}
	stored, err := r.write(ctx, to, recipients)
	if err != nil {
		Discard(ctx, to, r.ID)
		return Stored{}, err
	}
	return stored, nil
}

// check validates a request before anything is read or written.
func (r Request) check(to Target) ([]age.Recipient, error) {
	if err := errors.Join(backup.ValidatePrefix(to.Prefix), r.ID.Validate()); err != nil {
		return nil, err
	}
	recipients, err := seal.Recipients(r.Recipients)
	if err != nil {
		return nil, err
	}
	if r.Drill != nil {
		recipients = append(recipients, r.Drill.Recipient())
	}
	// An invalid manifest must not be noticed after hours of uploads.
	m, some := r.manifest(), backup.Content{Size: 1, Digest: backup.Digest(nil)}
	for _, source := range r.Sources {
		m.Parts = append(m.Parts, backup.Part{Name: source.Part, Stored: some, Plain: some})
	}
	return recipients, m.Validate()
}

// manifest returns the manifest without parts and revision.
func (r Request) manifest() *backup.Manifest {
	return &backup.Manifest{
		Format: backup.Format, ClusterUID: r.ClusterUID, BackupUID: r.ID.UID, Attempt: r.ID.Attempt,
		Time: r.Time.UTC().Truncate(time.Second), EtcdVersion: r.EtcdVersion, Recipients: r.Recipients,
	}
}

// write writes the parts, then the manifest.
func (r Request) write(ctx context.Context, to Target, recipients []age.Recipient) (Stored, error) {
	m := r.manifest()
	for _, source := range r.Sources {
		part, err := upload(ctx, to, m.Header(source.Part), recipients, source)
		if err != nil {
			return Stored{}, err
		}
		checks := []func(context.Context) error{
			func(ctx context.Context) error {
				return readBack(ctx, to, backup.Key(to.Prefix, r.ID, part.Name), part.Stored)
			},
		}
		if source.Check != nil {
			checks = append(checks, source.Check)
		}
		if err := together(ctx, checks); err != nil {
			return Stored{}, err
		}
		m.Parts = append(m.Parts, part)
	}
	if r.Revision != nil {
		m.Revision = r.Revision()
	}
	return writeManifest(ctx, to, m)
}

// Discard deletes what a failed attempt has written, also if its context has ended.
func Discard(ctx context.Context, to Target, id backup.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if attempt, err := to.attempt(ctx, id); err == nil {
		_ = to.remove(ctx, attempt) // retention deletes what is left
	}
}
