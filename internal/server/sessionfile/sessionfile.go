// Package sessionfile keeps the sessions of a server on disk, so that nobody has to sign in again
// after a restart while the API server is down. The file cannot open them: that takes the cookies.
package sessionfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/server/access"
)

const (
	name    = "sessions.json"
	format  = "refit-sessions"
	version = 1
	mode    = fs.FileMode(0o600)
	// maxBytes is the maximum size of the file.
	maxBytes = 32 << 20
)

// File is the file. It implements access.Store.
type File struct {
	// Directory is absolute.
	Directory string
	// Server is the address of the API server that has accepted the tokens. The sessions of another
	// one are ignored.
	Server string
}

type content struct {
	Format   string                   `json:"format"`
	Version  int                      `json:"version"`
	Server   string                   `json:"server"`
	Sessions map[string]access.Sealed `json:"sessions"`
}

func (f *File) path() string { return filepath.Join(f.Directory, name) }

// Load implements access.Store. Without a file, there are no sessions.
func (f *File) Load() (map[string]access.Sealed, error) {
	info, err := os.Stat(f.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the sessions: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxBytes:
		return nil, fmt.Errorf("%s is not a file with sessions", f.path())
	}
	raw, err := os.ReadFile(f.path())
	if err != nil {
		return nil, fmt.Errorf("cannot read the sessions: %w", err)
	}
	var c content
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("cannot decode %s: %w", f.path(), err)
	}
	if c.Format != format || c.Version != version || c.Server != f.Server {
		return nil, nil
	}
	return c.Sessions, nil
}

// Save implements access.Store.
func (f *File) Save(all map[string]access.Sealed) error {
	raw, err := json.Marshal(content{Format: format, Version: version, Server: f.Server, Sessions: all})
	if err != nil {
		return err
	}
	err = durable.Write(f.path(), durable.Attributes{Mode: mode, Owner: durable.Caller}, func(file *os.File) error {
		_, err := file.Write(raw)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot store the sessions: %w", err)
	}
	return nil
}
