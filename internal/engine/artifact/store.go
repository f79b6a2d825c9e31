package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The directories of a store.
const (
	dirWhole   = "sha256"  // complete files, by their digest
	dirPartial = "partial" // incomplete transfers
	dirBad     = "bad"     // the last file with wrong content, for analysis
)

// Store stores files by their digest. A file gets its name only after its content was read back and
// verified.
type Store struct {
	dir   string
	web   *web
	retry retryPolicy
	now   func() time.Time

	mu   sync.Mutex
	busy map[string]*sync.Mutex // by digest; a file has one transfer at a time
}

// OpenStore opens a store, and creates it if it does not exist. Only its owner can read it.
func OpenStore(dir string) (*Store, error) {
	for _, each := range []string{"", dirWhole, dirPartial, dirBad} {
		path := filepath.Join(dir, each)
		if err := durable.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			return nil, node.HostBroken("StoreBroken", err, "Remove it: Refit creates the store again", "%s is not a directory", path)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return nil, fmt.Errorf("cannot create the store: %w", err)
		}
	}
	return &Store{dir: dir, web: newWeb(), retry: defaultRetry, now: time.Now, busy: map[string]*sync.Mutex{}}, nil
}

// Path returns the path of a complete file.
func (s *Store) Path(digest string) string { return filepath.Join(s.dir, dirWhole, hexOf(digest)) }

func (s *Store) partial(digest string) string { return filepath.Join(s.dir, dirPartial, hexOf(digest)) }

// Has reports whether the store has a file, without reading it.
func (s *Store) Has(b refitv1alpha1.Blob) bool {
	info, err := os.Lstat(s.Path(b.Digest))
	return err == nil && info.Mode().IsRegular() && info.Size() == b.Size
}

// Missing returns the files that the store does not have, each once.
func (s *Store) Missing(blobs []refitv1alpha1.Blob) []refitv1alpha1.Blob {
	var out []refitv1alpha1.Blob
	seen := map[string]bool{}
	for _, b := range blobs {
		if !seen[b.Digest] && !s.Has(b) {
			out = append(out, b)
		}
		seen[b.Digest] = true
	}
	return out
}

// Check reads a file and compares it with its digest. It quarantines a damaged file, so that it is
// fetched again.
func (s *Store) Check(ctx context.Context, b refitv1alpha1.Blob) error {
	defer s.lock(b.Digest)()
	err := s.compare(ctx, s.Path(b.Digest), b)
	if !errors.Is(err, errWrongContent) {
		return err
	}
	if err := s.quarantine(s.Path(b.Digest)); err != nil {
		return err
	}
	return node.Transient("ArtifactDamaged", nil, "Refit fetches it again; if this repeats, check the disk of the host",
		"%s is damaged on the disk of this host", nameOf(b))
}

// Keep removes all files except some, and the rest of transfers.
func (s *Store) Keep(digests map[string]bool) error {
	for _, each := range []string{dirWhole, dirPartial, dirBad} {
		dir := filepath.Join(s.dir, each)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("cannot list the store: %w", err)
		}
		for _, entry := range entries {
			if each != dirBad && digests["sha256:"+entry.Name()] {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return fmt.Errorf("cannot remove a file from the store: %w", err)
			}
		}
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// errWrongContent is the error of a file whose content does not match its digest.
var errWrongContent = errors.New("the content does not match the ClusterRelease")

// compare reads a file and compares its size and digest.
func (s *Store) compare(ctx context.Context, path string, b refitv1alpha1.Blob) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return node.Transient("ArtifactMissing", nil, "Refit fetches it again", "%s is not in the store of the host", nameOf(b))
	}
	if err != nil {
		return fmt.Errorf("cannot read from the store: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(&cancelable{ctx, file}, b.Size+1))
	if err != nil {
		return fmt.Errorf("cannot read %s from the store: %w", nameOf(b), err)
	}
	if n != b.Size || sumOf(sum) != b.Digest {
		return errWrongContent
	}
	return nil
}

// admit verifies a complete partial file and gives it its name.
func (s *Store) admit(ctx context.Context, b refitv1alpha1.Blob) error {
	partial := s.partial(b.Digest)
	if err := s.compare(ctx, partial, b); err != nil {
		if !errors.Is(err, errWrongContent) {
			return local(err)
		}
		if err := s.quarantine(partial); err != nil {
			return local(err)
		}
		return errWrongContent
	}
	// Executable, since the version of a binary is queried in the store.
	if err := os.Chmod(partial, 0o500); err != nil {
		return local(fmt.Errorf("cannot store a file: %w", err))
	}
	if err := durable.SyncFile(partial); err != nil {
		return local(err)
	}
	if err := durable.Rename(partial, s.Path(b.Digest)); err != nil {
		return local(fmt.Errorf("cannot store a file: %w", err))
	}
	return nil
}

// quarantine moves a file with wrong content out of the way. Only the last one is kept, so that
// they do not fill the disk.
func (s *Store) quarantine(path string) error {
	bad := filepath.Join(s.dir, dirBad)
	if err := os.RemoveAll(bad); err != nil {
		return fmt.Errorf("cannot quarantine a file: %w", err)
	}
	if err := os.Mkdir(bad, 0o700); err != nil {
		return fmt.Errorf("cannot quarantine a file: %w", err)
	}
	target := filepath.Join(bad, filepath.Base(path))
	if err := durable.Rename(path, target); err != nil {
		return fmt.Errorf("cannot quarantine a file: %w", err)
	}
	if err := os.Chmod(target, 0o400); err != nil {
		return fmt.Errorf("cannot quarantine a file: %w", err)
	}
	return nil
}

func (s *Store) lock(digest string) (unlock func()) {
	s.mu.Lock()
	one := s.busy[digest]
	if one == nil {
		one = &sync.Mutex{}
		s.busy[digest] = one
	}
	s.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// hexOf returns the name of a file in a store. For an invalid digest it is a name that no file has.
func hexOf(digest string) string {
	if !digestPattern.MatchString(digest) {
		return "no-digest"
	}
	return strings.TrimPrefix(digest, "sha256:")
}

// nameOf returns the name of a file in messages.
func nameOf(b refitv1alpha1.Blob) string {
	if b.Path != "" {
		return b.Path
	}
	return b.Digest
}

func sumOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// cancelable is a reader that fails when its context ends.
type cancelable struct {
	ctx  context.Context
	from io.Reader
}

func (i *cancelable) Read(into []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.from.Read(into)
}
