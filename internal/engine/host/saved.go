package host

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// index says what was saved. It is written last: without one nothing was saved.
type index struct {
	Format  int      `json:"format"`
	Paths   []string `json:"paths"` // that were asked for
	Entries []Entry  `json:"entries"`
	Digest  string   `json:"digest"` // of the index itself, without this field
}

const (
	indexFormat = 1
	indexName   = "index.json"
	// maxSaved is how large one file may be: what is saved is configuration.
	maxSaved = 16 << 20
)

// Saved is a set of copies of the host's configuration.
type Saved struct {
	dir     string
	paths   []string
	entries map[string]Entry
	order   []string
}

// LoadSaved opens what Save has written. os.ErrNotExist passes through: nothing was saved, or not to the end.
func LoadSaved(dir string) (*Saved, error) {
	text, err := os.ReadFile(filepath.Join(dir, indexName))
	if err != nil {
		return nil, told(err, "reading", filepath.Join(dir, indexName))
	}
	var found index
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, damaged(dir, err, "its index cannot be read")
	}
	if found.Format > indexFormat {
		return nil, node.ManualIntervention("SavedTooNew", nil, "run the newer refit-agent that wrote it until the work has ended",
			"what was saved in %s has format %d, this refit-agent knows formats up to %d", dir, found.Format, indexFormat)
	}
	want, err := found.sum()
	if err != nil {
		return nil, err
	}
	if found.Digest != want {
		return nil, damaged(dir, nil, "its index is not as it was written")
	}
	s := &Saved{dir: dir, paths: found.Paths, entries: map[string]Entry{}}
	for _, entry := range found.Entries {
		s.entries[entry.Path] = entry
		s.order = append(s.order, entry.Path)
	}
	return s, nil
}

func (i index) sum() (string, error) {
	i.Digest = ""
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("writing the index of what was saved: %w", err)
	}
	return digestOfBytes(text), nil
}

// Entry is what a path was when it was saved.
func (s *Saved) Entry(path string) (Entry, bool) {
	entry, ok := s.entries[path]
	return entry, ok
}

// Read is the content of a saved file. os.ErrNotExist: there was none.
func (s *Saved) Read(path string) ([]byte, error) {
	entry, ok := s.entries[path]
	if !ok || entry.Digest == "" {
		return nil, fmt.Errorf("reading the saved %s: %w", path, fs.ErrNotExist)
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

// blob is where the content with a digest is.
func (s *Saved) blob(digest string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest, "sha256:"))
}

// below lists a path and what was saved below it, parents first. It refuses what was not saved: to put that back would be to guess.
func (s *Saved) below(path string) ([]Entry, error) {
	if _, ok := s.entries[path]; !ok {
		return nil, fmt.Errorf("%s was not saved in %s", path, s.dir)
	}
	var entries []Entry
	for _, at := range s.order {
		if at == path || strings.HasPrefix(at, path+"/") {
			entries = append(entries, s.entries[at])
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return entries, nil
}

func digestOfBytes(text []byte) string {
	sum := sha256.New()
	sum.Write(text)
	return digestOf(sum)
}

func damaged(dir string, err error, what string) error {
	return node.HostBroken("SavedDamaged", err, "check the host's disk; put the host's configuration back by hand",
		"what was saved in %s is damaged: %s", dir, what)
}
