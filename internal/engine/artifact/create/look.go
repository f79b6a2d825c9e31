package create

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// found is something in a folder that a ClusterRelease can have.
type found struct {
	full, path string // path is relative to the folder it was found in
	file       refitv1alpha1.ReleaseFile
	image      refitv1alpha1.ReleaseImage
}

// What is not taken, in words for a person.
const (
	notKnown     = "not part of a ClusterRelease"
	otherVersion = "of another version"
	otherImage   = "an image that kubeadm does not want"
	leftOut      = "left out as asked"
	notYet       = "an rpm package, which Refit cannot install yet"
	compressed   = "a compressed archive: unpack it first"
)

// look walks through the folders.
func (m *making) look(ctx context.Context) error {
	for _, folder := range m.Folders {
		full, err := filepath.EvalSymlinks(folder) // of links the walk follows none, not even the first
		if err == nil {
			full, err = filepath.Abs(full)
		}
		if err != nil {
			return fmt.Errorf("look into a folder: %w", err)
		}
		m.doing("looking into %s", folder)
		err = filepath.WalkDir(full, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case !entry.Type().IsRegular(): // links lead to files that are met anyway, or out of the folder
				return nil
			}
			relative, err := filepath.Rel(full, path)
			if err != nil {
				return err
			}
			return m.meet(ctx, path, filepath.ToSlash(relative))
		})
		if err != nil {
			return fmt.Errorf("look into %s: %w", folder, err)
		}
	}
	return nil
}

// meet finds out what a file is by its first bytes.
func (m *making) meet(ctx context.Context, full, path string) error {
	head, err := beginning(full, 512)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return m.meetProgram(ctx, full, path)
	case bytes.HasPrefix(head, []byte("!<arch>\ndebian-binary")):
		return m.meetPackage(ctx, full, path)
	case len(head) >= 262 && bytes.Equal(head[257:262], []byte("ustar")), strings.HasSuffix(path, ".tar"):
		return m.meetArchive(full, path)
	case bytes.HasPrefix(head, []byte("\xed\xab\xee\xdb")):
		m.skip(path, notYet)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")), bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		m.skip(path, compressed)
	default:
		m.skip(path, notKnown)
	}
	return nil
}

func (m *making) meetProgram(ctx context.Context, full, path string) error {
	name := strings.TrimSuffix(filepath.Base(full), filepath.Ext(filepath.Base(full))) // runc is published as runc.amd64
	if _, ok := artifact.PartOfProgram(filepath.Base(full)); ok {
		name = filepath.Base(full)
	}
	part, ok := artifact.PartOfProgram(name)
	if !ok {
		m.skip(path, notKnown)
		return nil
	}
	platform, err := artifact.PlatformOf(full)
	if err != nil {
		m.warn("%s: %v", path, err)
		m.skip(path, notKnown)
		return nil
	}
	os, arch, _ := strings.Cut(platform, "/")
	file := refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: os, Arch: arch}
	if file.Version, err = m.versionOf(ctx, full, path, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.programs = append(m.programs, &found{full: full, path: path, file: file})
	return nil
}

func (m *making) meetPackage(ctx context.Context, full, path string) error {
	deb, err := artifact.ReadDeb(ctx, full)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	part, ok := artifact.PartOfPackage(deb.Package)
	if !ok || deb.Architecture == "all" {
		m.skip(path, notKnown)
		return nil
	}
	m.programs = append(m.programs, &found{full: full, path: path, file: refitv1alpha1.ReleaseFile{
		Part: part, Name: deb.Package, Kind: refitv1alpha1.PackageDeb, OS: "linux", Arch: deb.Arch(), Version: deb.Version,
	}})
	return nil
}

func (m *making) meetArchive(full, path string) error {
	images, err := readArchive(full)
	if err != nil {
		m.warn("%s: %v", path, err)
	}
	if len(images) == 0 {
		m.skip(path, notKnown)
	}
	for _, image := range images {
		m.images = append(m.images, &found{full: full, path: path, image: image})
	}
	return nil
}

func beginning(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// blob reads a file to its end.
func (f *found) blob() (refitv1alpha1.Blob, error) {
	file, err := os.Open(f.full)
	if err != nil {
		return refitv1alpha1.Blob{}, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return refitv1alpha1.Blob{}, fmt.Errorf("read %s: %w", f.path, err)
	}
	return refitv1alpha1.Blob{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: size, Path: f.path}, nil
}
