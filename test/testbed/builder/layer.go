package builder

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// A layerFile is a file of an image: content, a copy of a file on disk, a symbolic link, or a
// directory.
type layerFile struct {
	path    string // absolute in the image
	mode    fs.FileMode
	content []byte
	source  string // file on disk to copy
	link    string // target of a symbolic link
	xattrs  map[string]string
}

// layerTar writes files as a reproducible tar: sorted, owned by root, dated 1970, with parent
// directories.
func layerTar(files []layerFile) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for _, file := range withParents(files) {
		if err := writeLayerFile(writer, file); err != nil {
			return nil, fmt.Errorf("writing %s into a layer: %w", file.path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("writing layer: %w", err)
	}
	return out.Bytes(), nil
}

func writeLayerFile(writer *tar.Writer, file layerFile) error {
	header := &tar.Header{
		Name:    strings.TrimPrefix(file.path, "/"),
		ModTime: time.Unix(0, 0),
		Format:  tar.FormatPAX,
	}
	content := file.content
	switch {
	case file.link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, file.link, 0o777
	case file.mode.IsDir():
		header.Typeflag, header.Mode, header.Name = tar.TypeDir, tarMode(file.mode), header.Name+"/"
	default:
		if file.source != "" {
			var err error
			if content, err = os.ReadFile(file.source); err != nil {
				return err
			}
		}
		header.Typeflag, header.Mode, header.Size = tar.TypeReg, tarMode(file.mode), int64(len(content))
	}
	for name, value := range file.xattrs {
		if header.PAXRecords == nil {
			header.PAXRecords = map[string]string{}
		}
		header.PAXRecords["SCHILY.xattr."+name] = value
	}
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err := writer.Write(content)
	return err
}

// tarMode returns the mode for tar, whose sticky bit differs from Go's.
func tarMode(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// withParents sorts files by path without duplicates, and adds their directories.
func withParents(files []layerFile) []layerFile {
	byPath := map[string]layerFile{}
	for _, file := range files {
		byPath[file.path] = file
	}
	for _, file := range files {
		for dir := path.Dir(file.path); dir != "/"; dir = path.Dir(dir) {
			if _, there := byPath[dir]; !there {
				byPath[dir] = layerFile{path: dir, mode: fs.ModeDir | 0o755}
			}
		}
	}
	sorted := make([]layerFile, 0, len(byPath))
	for _, file := range byPath {
		sorted = append(sorted, file)
	}
	slices.SortFunc(sorted, func(a, b layerFile) int { return strings.Compare(a.path, b.path) })
	return sorted
}
