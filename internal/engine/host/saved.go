package host

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// index lists the saved and the written files. It is written after the copies: without an index
// nothing was saved.
type index struct {
	Format int      `json:"format"`
	Files  []record `json:"files"`
	Digest string   `json:"digest"` // of the index itself, without this field
}

// record is the record of one file in an operation.
type record struct {
	// Before is the state before the operation first wrote the file.
	Before Entry `json:"before"`
	// Target is the target of a symlink when the operation first wrote it: kubeadm writes through
	// symlinks. The target has its own record.
	Target string `json:"target,omitempty"`
	// After is the state that the operation wrote last; nil if it has written nothing yet.
	After *Entry `json:"after,omitempty"`
	// Found is the state when a write started whose end is not recorded; nil if no write is open.
	Found *Entry `json:"found,omitempty"`
}

const (
	// minIndexFormat: format 1 did not record what the operation wrote, so no rollback from it is
	// safe.
	minIndexFormat = 2
	// indexFormat adds extended attributes. An index without any has the lowest format.
	indexFormat = 3
	indexName   = "index.json"
	// maxSaved is the maximum size of a saved file: only configuration is saved.
	maxSaved = 16 << 20
)

// Saved has the files that an operation saved before it wrote them, and the content that it wrote.
type Saved struct {
	dir   string
	files map[string]*record
}

// LoadSaved opens the files of Save and Track. It returns os.ErrNotExist if nothing was saved, or
// not completely.
func LoadSaved(dir string) (*Saved, error) {
	text, err := os.ReadFile(filepath.Join(dir, indexName))
	if err != nil {
		return nil, durable.Explain(err, "read", filepath.Join(dir, indexName))
	}
	var found index
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, damaged(dir, err, "its index cannot be read")
	}
	if err := checkFormat(dir, found.Format); err != nil {
		return nil, err
	}
	want, err := found.sum()
	if err != nil {
		return nil, err
	}
	if found.Digest != want {
		return nil, damaged(dir, nil, "its index is not as it was written")
	}
	s := &Saved{dir: dir, files: map[string]*record{}}
	for i := range found.Files {
		s.files[found.Files[i].Before.Path] = &found.Files[i]
	}
	return s, nil
}

// openSaved is LoadSaved for writing: it creates the index if there is none.
func openSaved(dir string) (*Saved, error) {
	if err := durable.CheckPath(dir); err != nil {
		return nil, err
	}
	s, err := LoadSaved(dir)
	if errors.Is(err, fs.ErrNotExist) {
		// Only root may read the copies.
		return &Saved{dir: dir, files: map[string]*record{}}, durable.MkdirAll(dir, 0o700)
	}
	return s, err
}

func checkFormat(dir string, format int) error {
	switch {
	case format > indexFormat:
		return node.ManualIntervention("SavedTooNew", nil, "Run the newer refit-agent that wrote it until the operation has ended",
			"the saved state in %s has format %d, this refit-agent reads format %d", dir, format, indexFormat)
	case format < minIndexFormat:
		return node.ManualIntervention("SavedTooOld", nil,
			"Install the refit-agent that ran this operation to finish it or roll it back, or leave the host as it is: the next upgrade needs none of it",
			"the saved state in %s has format %d, which does not record what the operation wrote; this refit-agent reads formats from %d",
			dir, format, minIndexFormat)
	}
	return nil
}

// hasXattrs reports whether a record needs the format with extended attributes.
func (r record) hasXattrs() bool {
	return len(r.Before.Xattrs) > 0 || r.After != nil && len(r.After.Xattrs) > 0 || r.Found != nil && len(r.Found.Xattrs) > 0
}

// withoutXattrs is the record in the lowest format.
func (r record) withoutXattrs() record {
	for _, entry := range []**Entry{&r.After, &r.Found} {
		if *entry != nil {
			copied := **entry
			copied.Xattrs, *entry = nil, &copied
		}
	}
	r.Before.Xattrs = nil
	return r
}

func (i index) sum() (string, error) {
	i.Digest = ""
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("cannot encode the index of the saved state: %w", err)
	}
	return digestOfBytes(text), nil
}

// store syncs the copies, and then writes the index that names them.
func (s *Saved) store() error {
	if err := durable.SyncDir(s.dir); err != nil {
		return durable.Explain(err, "save into", s.dir)
	}
	all := index{Format: minIndexFormat}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		all.Files = append(all.Files, *s.files[path])
	}
	if slices.ContainsFunc(all.Files, record.hasXattrs) {
		all.Format = indexFormat
	} else {
		for i, r := range all.Files {
			all.Files[i] = r.withoutXattrs()
		}
	}
	sum, err := all.sum()
	if err != nil {
		return err
	}
	all.Digest = sum
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("cannot encode the index of the saved state: %w", err)
	}
	return durable.WriteFile(filepath.Join(s.dir, indexName), append(text, '\n'), 0o600)
}

// Entry is the state of a path when it was saved.
func (s *Saved) Entry(path string) (Entry, bool) {
	if r := s.files[path]; r != nil {
		return r.Before, true
	}
	return Entry{}, false
}

// Digest is the digest of a saved file, also through a symlink; empty if there was none.
func (s *Saved) Digest(path string) string { return s.content(path).Digest }

// content is the saved file that a path leads to.
func (s *Saved) content(path string) Entry {
	entry, _ := s.Entry(path)
	if r := s.files[path]; r != nil && r.Target != "" {
		entry, _ = s.Entry(r.Target)
	}
	return entry
}

// Read returns the content of a saved file, also through a symlink, or os.ErrNotExist if there was
// none.
func (s *Saved) Read(path string) ([]byte, error) {
	entry := s.content(path)
	if entry.Digest == "" {
		return nil, fmt.Errorf("cannot read the saved %s: %w", path, fs.ErrNotExist)
	}
	text, err := os.ReadFile(s.blob(entry.Digest))
	if err != nil {
		return nil, damaged(s.dir, err, "the copy of "+path+" cannot be read")
	}
	if digestOfBytes(text) != entry.Digest {
		return nil, damaged(s.dir, nil, "the copy of "+path+" is not as it was written")
	}
	return text, nil
}

// Copy is the path of the copy of a saved file, empty if there was no file.
func (s *Saved) Copy(path string) string {
	entry, _ := s.Entry(path)
	if entry.Digest == "" {
		return ""
	}
	return s.blob(entry.Digest)
}

// blob is the path of the content with a digest.
func (s *Saved) blob(digest string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))
}

func digestOfBytes(text []byte) string {
	sum := sha256.New()
	sum.Write(text)
	return digestOf(sum)
}

func damaged(dir string, err error, what string) error {
	return node.HostBroken("SavedDamaged", err, "Check the host's disk; restore the host's configuration manually",
		"the saved state in %s is damaged: %s", dir, what)
}
