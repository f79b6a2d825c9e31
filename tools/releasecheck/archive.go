package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxFile is the size of the largest file that an archive may have.
const maxFile = 512 << 20

// unpack returns the binary of an archive, which must have LICENSE and README.md beside it, and
// nothing else.
func (r release) unpack(p product) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(r.dir, r.archive(p)))
	if err != nil {
		return nil, err
	}
	read, binary := untar, p.name
	if p.os == "windows" {
		read, binary = unzip, p.name+".exe"
	}
	files, err := read(raw)
	if err != nil {
		return nil, err
	}
	want := []string{"LICENSE", "README.md", binary}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		return nil, fmt.Errorf("it has the files %q, want %q", got, want)
	}
	for name, file := range files {
		if len(file.content) == 0 {
			return nil, fmt.Errorf("%s is empty", name)
		}
	}
	if mode := files[binary].mode; mode&0o111 != 0o111 {
		return nil, fmt.Errorf("%s has the mode %s", binary, mode)
	}
	return files[binary].content, nil
}

type file struct {
	content []byte
	mode    fs.FileMode
}

func untar(raw []byte) (map[string]file, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	in := tar.NewReader(zipped)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%s is not a regular file", header.Name)
		}
		content, err := bounded(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		files[header.Name] = file{content, header.FileInfo().Mode()}
	}
}

func unzip(raw []byte) (map[string]file, error) {
	in, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for _, entry := range in.File {
		if !entry.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file", entry.Name)
		}
		opened, err := entry.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name, err)
		}
		content, err := bounded(opened)
		opened.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name, err)
		}
		files[entry.Name] = file{content, entry.Mode()}
	}
	return files, nil
}

func bounded(in io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("larger than %d bytes", maxFile)
	}
	return content, err
}
