package artifact

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// FetchMembers extracts files into the store that are in the same archive, which it fetches once.
// Files that the store has need no archive.
func (s *Store) FetchMembers(ctx context.Context, files []refitv1alpha1.ReleaseFile, sources []Source) error {
	missing := s.missingFiles(files)
	if len(missing) == 0 {
		return nil
	}
	archive := missing[0].Archive.Blob
	if err := validateMembers(archive, missing); err != nil {
		return badRelease(err, "the ClusterRelease names an invalid file")
	}
	if err := s.Fetch(ctx, archive, sources); err != nil {
		return err
	}
	if err := s.Check(ctx, archive); err != nil {
		return err
	}
	err := s.extract(ctx, archive, missing)
	here, local := errors.AsType[localError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("cannot extract %s: %w", nameOf(archive), context.Cause(ctx))
	case local:
		return storeFailure(archive, s.dir, here.error)
	}
	return node.ManualIntervention("ArchiveInvalid", err,
		"Create the ClusterRelease again with the right archive (`refit release create`), sign it, and plan again",
		"cannot extract %s from the signed archive %s", namesOf(missing), nameOf(archive))
}

// missingFiles returns the files that the store does not have, each content once, in the order of
// their digests: two extractions at the same time wait for each other.
func (s *Store) missingFiles(files []refitv1alpha1.ReleaseFile) []refitv1alpha1.ReleaseFile {
	out := slices.DeleteFunc(slices.Clone(files), func(f refitv1alpha1.ReleaseFile) bool { return s.Has(f.Blob) })
	slices.SortStableFunc(out, func(a, b refitv1alpha1.ReleaseFile) int { return strings.Compare(a.Digest, b.Digest) })
	return slices.CompactFunc(out, func(a, b refitv1alpha1.ReleaseFile) bool { return a.Digest == b.Digest })
}

func validateMembers(archive refitv1alpha1.Blob, files []refitv1alpha1.ReleaseFile) error {
	sizes := map[string]int64{}
	for _, f := range files {
		if f.Archive == nil || f.Archive.Digest != archive.Digest {
			return fmt.Errorf("%s is in another archive", f.Name)
		}
		for _, err := range []error{validateBlob(f.Blob, sizes), validateArchive(f, sizes)} {
			if err != nil {
				return named(f.Name, err)
			}
		}
	}
	return nil
}

// extract extracts files of a complete archive.
func (s *Store) extract(ctx context.Context, archive refitv1alpha1.Blob, files []refitv1alpha1.ReleaseFile) error {
	from, err := os.Open(s.Path(archive.Digest))
	if err != nil {
		return local(fmt.Errorf("cannot read from the store: %w", err))
	}
	defer from.Close()
	defer s.lockAll(files)()
	// Unlike a transfer, an extraction starts again from the beginning.
	if err := s.removePartials(files); err != nil {
		return err
	}
	err = extractMembers(ctx, from, files, s.writeMember)
	if err == nil {
		for _, f := range files {
			if err = s.admit(ctx, f.Blob); errors.Is(err, errWrongContent) { // it had its digest when it was written
				err = local(fmt.Errorf("the store returns other content of %s than was written", f.Name))
			}
			if err != nil {
				break
			}
		}
	}
	if err != nil {
		return errors.Join(err, s.removePartials(files))
	}
	return nil
}

// lockAll locks files that missingFiles has returned: each content once, in its order.
func (s *Store) lockAll(files []refitv1alpha1.ReleaseFile) (unlock func()) {
	held := make([]func(), 0, len(files))
	for _, f := range files {
		held = append(held, s.lock(f.Digest))
	}
	return func() {
		for _, release := range held {
			release()
		}
	}
}

func (s *Store) removePartials(files []refitv1alpha1.ReleaseFile) error {
	for _, f := range files {
		if err := os.Remove(s.partial(f.Digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return local(fmt.Errorf("cannot write to the store: %w", err))
		}
	}
	return nil
}

// writeMember writes a file of an archive as a partial file.
func (s *Store) writeMember(f refitv1alpha1.ReleaseFile, content io.Reader) error {
	file, _, err := s.openPartial(f.Blob)
	if err != nil {
		return local(err)
	}
	defer file.Close()
	if _, err := io.Copy(storeWriter{file}, content); err != nil {
		return err
	}
	if err := durable.Sync(file); err != nil {
		return local(fmt.Errorf("cannot write to the store: %w", err))
	}
	return nil
}

// extractMembers passes each file to write, and reads the archive to its end: one that is damaged
// anywhere provides nothing. It fails if a file is missing, is not a regular file, or does not
// match its size and digest.
func extractMembers(
	ctx context.Context, from io.Reader, files []refitv1alpha1.ReleaseFile, write func(refitv1alpha1.ReleaseFile, io.Reader) error,
) error {
	wanted := map[string]refitv1alpha1.ReleaseFile{}
	for _, f := range files {
		if _, twice := wanted[f.Archive.Member]; twice {
			return fmt.Errorf("two files are %s of one archive", quoted(f.Archive.Member))
		}
		wanted[f.Archive.Member] = f
	}
	err := WalkArchive(ctx, from, func(m Member) error {
		f, is := wanted[m.Path]
		if !is {
			return nil
		}
		delete(wanted, m.Path)
		if m.Size != f.Size {
			return fmt.Errorf("%s has %d bytes instead of %d: %w", quoted(m.Path), m.Size, f.Size, errWrongContent)
		}
		sum := sha256.New()
		if err := write(f, io.TeeReader(io.LimitReader(m.Content, f.Size), sum)); err != nil {
			return err
		}
		if sumOf(sum) != f.Digest {
			return fmt.Errorf("%s: %w", quoted(m.Path), errWrongContent)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for member := range wanted {
		return fmt.Errorf("%w: it has no regular file %s", errArchive, quoted(member))
	}
	return nil
}

func namesOf(files []refitv1alpha1.ReleaseFile) string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name)
	}
	return strings.Join(out, ", ")
}
