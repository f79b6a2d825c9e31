package restore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// hostServer is the manifest whose flags name further files of a backup.
const hostServer = "/etc/kubernetes/manifests/kube-apiserver.yaml"

// backedUp returns the paths that Refit backs up on this host, and where symlinks to them lead. The
// manifest in a backup without a recorded digest may be forged, and would name any file: only that
// of the host counts then.
func (f *FileRestore) backedUp(of func(servers ...[]byte) backup.HostPaths) (backup.HostPaths, error) {
	var servers [][]byte
	if text, err := os.ReadFile(filepath.Join(f.root, hostServer)); err == nil {
		servers = append(servers, text)
	}
	if archived, ok := f.archived[hostServer]; ok && f.Backup.Recorded {
		servers = append(servers, archived.Content)
	}
	paths := of(servers...)
	for _, path := range slices.Clone(paths) {
		dir, err := f.resolve(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		whole, err := f.resolve(path)
		if err != nil {
			return nil, err
		}
		paths = append(paths, filepath.Join(dir, filepath.Base(path)), whole)
	}
	return paths, nil
}

// outside returns why a file of the backup must not be written to this host, or "".
func (f *FileRestore) outside(path string) (string, error) {
	if !f.paths.Contain(path) {
		if f.Backup.Recorded {
			return "is not a file that Refit backs up", nil
		}
		return "is not a file that Refit backs up on this host. If a flag of the API server names it, restore " + hostServer + " first", nil
	}
	dir, err := f.resolve(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	if at := filepath.Join(dir, filepath.Base(path)); !f.paths.Contain(at) {
		return "a symlink leads to " + at + ", which Refit does not back up: copy the file yourself", nil
	}
	return "", nil
}

// resolve follows the symlinks of a directory on the host. Missing parts are kept.
func (f *FileRestore) resolve(dir string) (string, error) {
	root, err := filepath.EvalSymlinks(f.root)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	for at, rest := filepath.Join(root, dir), ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		resolved, err := filepath.EvalSymlinks(at)
		if errors.Is(err, fs.ErrNotExist) && at != root {
			continue
		}
		if err != nil {
			return "", err
		}
		below, err := filepath.Rel(root, resolved)
		return filepath.Join("/", below, rest), err
	}
}
