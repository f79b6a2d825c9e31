package restore

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// hostCA is the certificate of the cluster's CA among the files of the host.
const hostCA = "/etc/kubernetes/pki/ca.crt"

// readCAs returns the keys of the cluster's CAs in the part with the files of the host.
func (s Source) readCAs(ctx context.Context, m *backup.Manifest, part backup.Part) ([]string, error) {
	files, err := s.readPart(ctx, m, part, func(path string) bool { return path == hostCA })
	if err != nil {
		return nil, err
	}
	return casOf(files)
}

func casOf(files map[string]restore.File) ([]string, error) {
	keys, err := kubeadm.CAKeys(files[hostCA].Content)
	if err != nil {
		return nil, fmt.Errorf("cannot read the CA in the backup: %w", err)
	}
	return keys, nil
}

// readPart decrypts the part with the files of the host, and returns those that are wanted by path.
// They are proven when it has returned.
func (s Source) readPart(
	ctx context.Context, m *backup.Manifest, part backup.Part, wanted func(path string) bool,
) (files map[string]restore.File, err error) {
	err = enginebackup.Open(ctx, s.From, m, part, s.Identities, func(plain io.Reader) (err error) {
		if files, err = readFiles(plain, wanted); err != nil {
			return fmt.Errorf("cannot read the files of the host: %w", err)
		}
		return nil
	})
	return files, err
}

// readFiles reads the files that are wanted into memory. The others may have any size.
func readFiles(plain io.Reader, wanted func(path string) bool) (map[string]restore.File, error) {
	files, left := map[string]restore.File{}, int64(backup.MaxHostFiles)
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		path := "/" + header.Name
		if !wanted(path) {
			continue
		}
		if !filepath.IsLocal(header.Name) || filepath.Clean(header.Name) != header.Name || header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%q is no path of a file", header.Name)
		}
		if left -= header.Size; left < 0 {
			return nil, fmt.Errorf("they have more than %d MiB", backup.MaxHostFiles>>20)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		files[path] = restore.File{Path: path, Mode: header.FileInfo().Mode().Perm(), UID: header.Uid, GID: header.Gid, Content: content}
	}
}
