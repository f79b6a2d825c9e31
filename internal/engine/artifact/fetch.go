package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// patience is how often a place is asked again, and after which time.
type patience struct {
	attempts int
	wait     time.Duration
	most     time.Duration
	// progress is how much must have come for an attempt not to count.
	progress int64
}

var defaultPatience = patience{attempts: 4, wait: time.Second, most: 15 * time.Second, progress: 1 << 20}

// localError is a failure of this host, which no other source would mend.
type localError struct{ error }

func (l localError) Unwrap() error { return l.error }

func local(err error) error {
	if err == nil {
		return nil
	}
	return localError{err}
}

// Fetch brings a file into the store: from the sources in their order, then from where it was published. What has come of it before is not fetched again.
func (s *Store) Fetch(ctx context.Context, b refitv1alpha1.Blob, sources []Source) error {
	if err := validateBlob(b, map[string]int64{}); err != nil {
		return badRelease(err, "the ClusterRelease names a file that cannot be fetched")
	}
	defer s.lock(b.Digest)()
	if s.Has(b) {
		return nil
	}
	var tried []attempt
	for _, at := range s.placesOf(b, sources) {
		err := s.fetchFrom(ctx, b, at)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("fetch %s: %w", nameOf(b), context.Cause(ctx))
		}
		if here, ok := errors.AsType[localError](err); ok {
			return onHost(b, s.dir, here.error)
		}
		tried = append(tried, attempt{at.String(), err})
	}
	return nowhere(b, tried)
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

// fetchFrom tries one place until the file is there, or until it is clear that it will not come from there.
func (s *Store) fetchFrom(ctx context.Context, b refitv1alpha1.Blob, at place) error {
	wait := s.patience.wait
	clean := false // whether this place has been asked for all of the file after pieces turned out not to fit together
	for tries := 0; ; {
		pieces, got, err := s.transfer(ctx, b, at)
		if err == nil {
			err = s.admit(ctx, b)
			if err == nil {
				return nil
			}
			if errors.Is(err, errBad) && pieces && !clean {
				clean = true // what came before from elsewhere may have been the bad piece
				continue
			}
		}
		if final(err) || ctx.Err() != nil {
			return err
		}
		if got >= s.patience.progress {
			tries, wait = 0, s.patience.wait
		}
		if tries++; tries >= s.patience.attempts {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, s.patience.most)
	}
}

// final says whether a place need not be asked again.
func final(err error) bool {
	_, here := errors.AsType[localError](err)
	return here || errors.Is(err, errBad) || errors.Is(err, errElsewhere) || errors.Is(err, errAnother) || errors.Is(err, fs.ErrPermission)
}

// transfer appends what a place has to the partial file until it is complete. It says whether the file is made of pieces that did not all come just now.
func (s *Store) transfer(ctx context.Context, b refitv1alpha1.Blob, at place) (pieces bool, got int64, err error) {
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
			return false, 0, local(fmt.Errorf("write to the store: %w", err))
		}
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return false, 0, local(fmt.Errorf("write to the store: %w", err))
	}
	got, err = io.Copy(onDisk{file}, io.LimitReader(&interruptible{ctx, body}, b.Size-start+1))
	switch {
	case err != nil:
		return false, got, err
	case start+got > b.Size:
		if err := file.Truncate(0); err != nil {
			return false, got, local(fmt.Errorf("write to the store: %w", err))
		}
		return false, got, fmt.Errorf("%w: it has more than %d bytes", errAnother, b.Size)
	case start+got < b.Size:
		return false, got, fmt.Errorf("it ends after %d of %d bytes", start+got, b.Size)
	}
	if err := durable.Sync(file); err != nil {
		return false, got, local(fmt.Errorf("write to the store: %w", err))
	}
	return start > 0, got, nil
}

// openPartial opens what has come of a file so far.
func (s *Store) openPartial(b refitv1alpha1.Blob) (file *os.File, size int64, err error) {
	path := s.partial(b.Digest)
	// A crash may have left it complete and no longer writable.
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("write to the store: %w", err)
	}
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("write to the store: %w", err)
	}
	if size, err = sizeWithin(file, b.Size); err != nil {
		_ = file.Close() // the first error says more
		return nil, 0, fmt.Errorf("write to the store: %w", err)
	}
	return file, size, nil
}

// sizeWithin is a file's size; one that is longer than it can be is emptied.
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

// onDisk tells errors of writing from those of reading.
type onDisk struct{ file *os.File }

func (o onDisk) Write(what []byte) (int, error) {
	n, err := o.file.Write(what)
	if err != nil {
		err = local(fmt.Errorf("write to the store: %w", err))
	}
	return n, err
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt is a place that was asked in vain.
type attempt struct {
	place string
	err   error
}

// nowhere is the failure of a file that no place gave.
func nowhere(b refitv1alpha1.Blob, tried []attempt) error {
	if len(tried) == 0 {
		return node.ManualIntervention("NoSources", nil, "name a folder, mirror or OCI layout with the ClusterRelease's files in the agent's settings",
			"no source is set for %s, and the ClusterRelease does not say where it was published", nameOf(b))
	}
	var words []string
	bad, away := false, false
	for _, t := range tried {
		words = append(words, fmt.Sprintf("%s: %v", t.place, t.err))
		bad = bad || errors.Is(t.err, errBad) || errors.Is(t.err, errAnother)
		away = away || !final(t.err)
	}
	list := strings.Join(words, "; ")
	switch {
	case away:
		return node.Transient("ArtifactUnavailable", nil, "it is tried again; see that the host reaches its sources",
			"%s could not be fetched (%s)", nameOf(b), list)
	case bad:
		return node.ManualIntervention("ArtifactWrong", nil, "copy the ClusterRelease's files to the source again, unchanged, then say retry",
			"no source has the %s that was signed (%s)", nameOf(b), list)
	}
	return node.ManualIntervention("ArtifactNotFound", nil, "copy the ClusterRelease's files to one of the sources, then say retry", "no source has %s (%s)", nameOf(b), list)
}

// onHost is the failure of a host that cannot keep a file.
func onHost(b refitv1alpha1.Blob, into string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return node.DiskFull(err, fmt.Sprintf("fetching %s (%d MiB) into", nameOf(b), b.Size>>20), into)
	}
	return node.HostBroken("StoreBroken", err, "look at the disk of the agent's directory, then say retry", "%s cannot be kept on this host", nameOf(b))
}
