package backup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// errEndedEarly is the error of a source whose store has ended the upload without an error.
var errEndedEarly = fmt.Errorf("%w: the store ended an upload before its end", backup.ErrCorrupt)

// errPanicked is the error of an upload whose source has panicked.
var errPanicked = errors.New("the source of the upload panicked")

// upload stores a part while its source writes it.
func upload(ctx context.Context, to Target, header backup.Header, recipients []age.Recipient, source Source) (backup.Part, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, writer := io.Pipe()
	// A panic of the source must not leave Put waiting, nor end the object as if it were complete.
	defer writer.CloseWithError(errPanicked)
	put := make(chan error, 1)
	go func() {
		err := recovered.Call(func() error { return to.Store.Put(ctx, backup.Key(to.Prefix, header.ID, header.Part), reader) })
		reader.CloseWithError(errEndedEarly)
		if err != nil {
			cancel() // the source may wait for something else
		}
		put <- err
	}()
	part, sealed := sealTo(ctx, writer, header, recipients, source)
	writer.CloseWithError(sealed)
	// An error of the source is returned by Put, too.
	return part, cmp.Or(<-put, sealed)
}

// sealTo writes a part into a stream, and completes it only if its source has.
func sealTo(ctx context.Context, to io.Writer, header backup.Header, recipients []age.Recipient, source Source) (backup.Part, error) {
	w, err := seal.NewWriter(to, header, recipients)
	if err != nil {
		return backup.Part{}, err
	}
	if err := source.Write(ctx, w); err != nil {
		w.Abandon()
		return backup.Part{}, fmt.Errorf("cannot write %s: %w", header.Part, err)
	}
	if err := w.Close(); err != nil {
		return backup.Part{}, fmt.Errorf("cannot write %s: %w", header.Part, err)
	}
	return w.Part()
}

// readBack reads an object and compares it with what was written. A store may answer that it has
// stored an object which it dropped.
func readBack(ctx context.Context, from Target, key string, want backup.Content) error {
	object, err := from.Store.Stat(ctx, key)
	if err == nil && object.Size != want.Size {
		return fmt.Errorf("%w: the store returns %s with %d bytes instead of %d", backup.ErrCorrupt, key, object.Size, want.Size)
	}
	if err == nil {
		err = compare(ctx, from, key, want)
	}
	if errors.Is(err, backup.ErrNotFound) {
		return fmt.Errorf("%w: the store lost %s", backup.ErrCorrupt, key)
	}
	return err
}

// compare reads an object and compares its size and digest.
func compare(ctx context.Context, from Target, key string, want backup.Content) error {
	body, err := from.Store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer body.Close()
	got, err := seal.Measure(body, want.Size)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: %s is not what was stored", backup.ErrCorrupt, key)
	}
	return nil
}

// writeManifest stores the manifest, and reads it back.
func writeManifest(ctx context.Context, to Target, m *backup.Manifest) (Stored, error) {
	raw, digest, err := m.Encode()
	if err != nil {
		return Stored{}, err
	}
	key := backup.Key(to.Prefix, m.ID(), backup.ManifestName(digest))
	if err := to.Store.Put(ctx, key, bytes.NewReader(raw)); err != nil {
		return Stored{}, err
	}
	if err := readBack(ctx, to, key, backup.Content{Size: int64(len(raw)), Digest: digest}); err != nil {
		return Stored{}, err
	}
	return Stored{m, digest}, nil
}
