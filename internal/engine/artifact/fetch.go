package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// retryPolicy is how often and at which intervals a transfer is retried.
type retryPolicy struct {
	attempts int
	wait     time.Duration
	maxWait  time.Duration
	// progress is how many bytes an attempt must transfer to not count as failed.
	progress int64
}

var defaultRetry = retryPolicy{attempts: 4, wait: time.Second, maxWait: 15 * time.Second, progress: 1 << 20}

// localError is a failure of this host, which another source would not fix.
type localError struct{ error }

func (l localError) Unwrap() error { return l.error }

func local(err error) error {
	if err == nil {
		return nil
	}
	return localError{err}
}

// Fetch fetches a file into the store: from the sources in their order, then from where it was
// published. It resumes an interrupted transfer.
func (s *Store) Fetch(ctx context.Context, b refitv1alpha1.Blob, sources []Source) error {
	if err := validateBlob(b, map[string]int64{}); err != nil {
		return badRelease(err, "the ClusterRelease names an invalid file")
	}
	defer s.lock(b.Digest)()
	if s.Has(b) {
		return nil
	}
	tried, err := s.fetchFromAny(ctx, b, s.placesOf(b, sources))
	here, local := errors.AsType[localError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("cannot fetch %s: %w", nameOf(b), context.Cause(ctx))
	case local:
		return storeFailure(b, s.dir, here.error)
	}
	return unavailable(b, tried)
}

func (s *Store) placesOf(b refitv1alpha1.Blob, sources []Source) []place {
	var out []place
	for _, source := range sources {
		out = append(out, source.places(b)...)
	}
	for _, text := range b.URLs {
		if u, err := url.Parse(text); err == nil { // validated before
			out = append(out, &webFile{url: u, web: s.web})
		}
	}
	return out
}

// fetchFrom fetches a file from one place. It retries until the error is final or the attempts are
// used up. A place that is slower than wanted is final.
func (s *Store) fetchFrom(ctx context.Context, b refitv1alpha1.Blob, at place, wanted pace) error {
	wait := s.retry.wait
	// Whether the whole file was fetched from this place after its pieces did not match.
	clean := false
	for tries := 0; ; {
		pieces, got, err := s.transfer(ctx, b, at, wanted)
		if err == nil {
			err = s.admit(ctx, b)
			if err == nil {
				return nil
			}
			if errors.Is(err, errWrongContent) && pieces && !clean {
				clean = true // the piece of an earlier transfer may be the wrong one
				continue
			}
		}
		if final(err) || ctx.Err() != nil {
			return err
		}
		if got >= s.retry.progress {
			tries, wait = 0, s.retry.wait
		}
		if tries++; tries >= s.retry.attempts {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, s.retry.maxWait)
	}
}

var finalErrors = []error{errSlow, errWrongContent, errNotFound, errOtherFile, fs.ErrPermission}

// final reports whether a retry of the same place is useless.
func final(err error) bool {
	_, here := errors.AsType[localError](err)
	return here || slices.ContainsFunc(finalErrors, func(each error) bool { return errors.Is(err, each) })
}

// transfer appends the content of a place to the partial file until it is complete. pieces reports
// whether parts of the file are from an earlier transfer.
func (s *Store) transfer(ctx context.Context, b refitv1alpha1.Blob, at place, wanted pace) (pieces bool, got int64, err error) {
	file, offset, err := s.openPartial(b)
	if err != nil {
		return false, 0, local(err)
	}
	defer file.Close()
	if offset == b.Size {
		return true, 0, nil
	}
	body, start, err := at.open(ctx, b, offset)
	if err != nil {
		return false, 0, err
	}
	defer body.Close()
	if start != offset {
		if err := file.Truncate(start); err != nil {
			return false, 0, local(fmt.Errorf("cannot write to the store: %w", err))
		}
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return false, 0, local(fmt.Errorf("cannot write to the store: %w", err))
	}
	got, err = io.Copy(storeWriter{file}, io.LimitReader(s.measure(&cancelable{ctx, body}, wanted), b.Size-start+1))
	switch {
	case err != nil:
		return false, got, err
	case start+got > b.Size:
		if err := file.Truncate(0); err != nil {
			return false, got, local(fmt.Errorf("cannot write to the store: %w", err))
		}
		return false, got, fmt.Errorf("%w: more than %d bytes", errOtherFile, b.Size)
	case start+got < b.Size:
		return false, got, fmt.Errorf("the transfer ended after %d of %d bytes", start+got, b.Size)
	}
	if err := durable.Sync(file); err != nil {
		return false, got, local(fmt.Errorf("cannot write to the store: %w", err))
	}
	return start > 0, got, nil
}

// openPartial opens the partial file of a transfer.
func (s *Store) openPartial(b refitv1alpha1.Blob) (file *os.File, size int64, err error) {
	path := s.partial(b.Digest)
	// A crash may have left it complete and no longer writable.
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("cannot write to the store: %w", err)
	}
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("cannot write to the store: %w", err)
	}
	if size, err = sizeWithin(file, b.Size); err != nil {
		_ = file.Close() // the first error has the cause
		return nil, 0, fmt.Errorf("cannot write to the store: %w", err)
	}
	return file, size, nil
}

// sizeWithin returns the size of a file. It truncates a file that is too long.
func sizeWithin(file *os.File, most int64) (int64, error) {
	info, err := file.Stat()
	if err != nil || info.Size() <= most {
		return sizeOf(info), err
	}
	return 0, file.Truncate(0)
}

func sizeOf(info fs.FileInfo) int64 {
	if info == nil {
		return 0
	}
	return info.Size()
}

// storeWriter marks write errors as local, unlike those of the source.
type storeWriter struct{ file *os.File }

func (o storeWriter) Write(what []byte) (int, error) {
	n, err := o.file.Write(what)
	if err != nil {
		err = local(fmt.Errorf("cannot write to the store: %w", err))
	}
	return n, err
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt is a failed fetch from one place.
type attempt struct {
	place string
	err   error
}

// unavailable returns the failure of a file that could not be fetched from any place.
func unavailable(b refitv1alpha1.Blob, tried []attempt) error {
	if len(tried) == 0 {
		return node.ManualIntervention("NoSources", nil,
			"Set a directory, mirror or OCI layout that has the files of the ClusterRelease: `refit install --source SOURCE`, then run `refit retry`",
			"no source is configured for %s, and the ClusterRelease has no URL for it", nameOf(b))
	}
	var errs []string
	wrong, transient := false, false
	for _, t := range tried {
		errs = append(errs, fmt.Sprintf("%s: %v", t.place, t.err))
		wrong = wrong || errors.Is(t.err, errWrongContent) || errors.Is(t.err, errOtherFile)
		transient = transient || !final(t.err)
	}
	list := strings.Join(errs, "; ")
	switch {
	case transient:
		return node.Transient("ArtifactUnavailable", nil, "Refit retries; check that the host can reach its sources",
			"cannot fetch %s (%s)", nameOf(b), list)
	case wrong:
		return node.ManualIntervention("ArtifactWrong", nil, "Copy the files of the ClusterRelease to the source again, unchanged, then run `refit retry`",
			"no source has the signed %s (%s)", nameOf(b), list)
	}
	return node.ManualIntervention("ArtifactNotFound", nil, "Copy the files of the ClusterRelease to one of the sources, then run `refit retry`",
		"no source has %s (%s)", nameOf(b), list)
}

// storeFailure returns the failure of a host that cannot store a file.
func storeFailure(b refitv1alpha1.Blob, into string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return node.DiskFull(err, fmt.Sprintf("fetch %s (%d MiB) into", nameOf(b), b.Size>>20), into)
	}
	return node.HostBroken("StoreBroken", err, "Check the disk of the directory "+into+", then run `refit retry`", "cannot store %s on this host", nameOf(b))
}
