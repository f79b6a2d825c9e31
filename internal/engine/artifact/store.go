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

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// The directories of a store.
const (
	dirWhole   = "sha256"  // complete files, by their digest
	dirPartial = "partial" // what has come so far of others
	dirBad     = "bad"     // the last file that was not what it should have been, for a person to look at
)

// Store keeps files by their digest. A file gets its name only after it was read back and found to be what it should be, so a name is a promise.
type Store struct {
	dir      string
	web      *web
	patience patience

	mu   sync.Mutex
	busy map[string]*sync.Mutex // by digest: one transfer of a file at a time
}

// OpenStore opens a store, and makes it if it is not there. Only its owner can look into it.
func OpenStore(dir string) (*Store, error) {
	for _, each := range []string{"", dirWhole, dirPartial, dirBad} {
		path := filepath.Join(dir, each)
		if err := durable.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			return nil, node.HostBroken("StoreBroken", err, "remove it: the store is made again", "%s is no directory", path)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return nil, fmt.Errorf("make the store: %w", err)
		}
	}
	return &Store{dir: dir, web: newWeb(), patience: defaultPatience, busy: map[string]*sync.Mutex{}}, nil
}

// Path is where a complete file is.
func (s *Store) Path(digest string) string { return filepath.Join(s.dir, dirWhole, hexOf(digest)) }

func (s *Store) partial(digest string) string { return filepath.Join(s.dir, dirPartial, hexOf(digest)) }

// Has says whether a file is there, without reading it.
func (s *Store) Has(b refitv1alpha1.Blob) bool {
	info, err := os.Lstat(s.Path(b.Digest))
	return err == nil && info.Mode().IsRegular() && info.Size() == b.Size
}

// Missing lists the files that are not there, each once.
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

// Check reads a file and compares it with its digest. One that is not what its name promises is put aside, so that it is fetched again.
func (s *Store) Check(ctx context.Context, b refitv1alpha1.Blob) error {
	defer s.lock(b.Digest)()
	err := s.compare(ctx, s.Path(b.Digest), b)
	if !errors.Is(err, errBad) {
		return err
	}
	if err := s.putAside(s.Path(b.Digest)); err != nil {
		return err
	}
	return node.Transient("ArtifactDamaged", nil, "it is fetched again; if this comes back, look at the host's disk",
		"%s was damaged on this host's disk and was put aside", nameOf(b))
}

// Keep removes all files but some, and whatever is left of transfers that nobody needs any more.
func (s *Store) Keep(digests map[string]bool) error {
	for _, each := range []string{dirWhole, dirPartial, dirBad} {
		dir := filepath.Join(s.dir, each)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("list the store: %w", err)
		}
		for _, entry := range entries {
			if each != dirBad && digests["sha256:"+entry.Name()] {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return fmt.Errorf("clean the store: %w", err)
			}
		}
		if err := durable.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// errBad is the error of a file whose content is not what its digest says.
var errBad = errors.New("its content is not what the ClusterRelease says")

// compare reads a file to its end.
func (s *Store) compare(ctx context.Context, path string, b refitv1alpha1.Blob) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return node.Transient("ArtifactMissing", nil, "it is fetched again", "%s is not in the host's store", nameOf(b))
	}
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(&interruptible{ctx, file}, b.Size+1))
	if err != nil {
		return fmt.Errorf("read %s back: %w", nameOf(b), err)
	}
	if n != b.Size || sumOf(sum) != b.Digest {
		return errBad
	}
	return nil
}

// admit makes a complete partial file one that can be relied on.
func (s *Store) admit(ctx context.Context, b refitv1alpha1.Blob) error {
	partial := s.partial(b.Digest)
	if err := s.compare(ctx, partial, b); err != nil {
		if !errors.Is(err, errBad) {
			return local(err)
		}
		if err := s.putAside(partial); err != nil {
			return local(err)
		}
		return errBad
	}
	// A program is asked for its version where it lies.
	if err := os.Chmod(partial, 0o500); err != nil {
		return local(fmt.Errorf("keep a file: %w", err))
	}
	if err := durable.SyncFile(partial); err != nil {
		return local(err)
	}
	if err := durable.Rename(partial, s.Path(b.Digest)); err != nil {
		return local(fmt.Errorf("keep a file: %w", err))
	}
	return nil
}

// putAside moves a bad file to where nobody takes it for a good one. Only the last one is kept: bad files must not fill a disk.
func (s *Store) putAside(path string) error {
	bad := filepath.Join(s.dir, dirBad)
	if err := os.RemoveAll(bad); err != nil {
		return fmt.Errorf("put a bad file aside: %w", err)
	}
	if err := os.Mkdir(bad, 0o700); err != nil {
		return fmt.Errorf("put a bad file aside: %w", err)
	}
	target := filepath.Join(bad, filepath.Base(path))
	if err := os.Rename(path, target); err != nil {
		return fmt.Errorf("put a bad file aside: %w", err)
	}
	if err := os.Chmod(target, 0o400); err != nil {
		return fmt.Errorf("put a bad file aside: %w", err)
	}
	return errors.Join(durable.SyncDir(bad), durable.SyncDir(filepath.Dir(path)))
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

// hexOf is the name of a file in a store. What is no digest gets a name that no file has, whatever it tries to be.
func hexOf(digest string) string {
	if !digestPattern.MatchString(digest) {
		return "no-digest"
	}
	return strings.TrimPrefix(digest, "sha256:")
}

// nameOf names a file for a person.
func nameOf(b refitv1alpha1.Blob) string {
	if b.Path != "" {
		return b.Path
	}
	return b.Digest
}

func sumOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// interruptible is a reader that ends when its context does.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (i *interruptible) Read(into []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.from.Read(into)
}
