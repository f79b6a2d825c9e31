package create

import (
	"bytes"
	"cmp"
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

// found is a file or an image in a folder that a ClusterRelease can have.
type found struct {
	full, path string // path is relative to the folder
	file       refitv1alpha1.ReleaseFile
	image      refitv1alpha1.ReleaseImage
}

// Why a file is skipped.
const (
	notPart      = "not part of a ClusterRelease"
	otherVersion = "of another version"
	otherImage   = "an image that neither kubeadm nor a component requires"
	excluded     = "excluded"
	compressed   = "a compressed archive: decompress it first"
	symlink      = "a symbolic link, which is not followed"
)

// inspect walks through the folders.
func (m *builder) inspect(ctx context.Context) error {
	for _, folder := range m.Folders {
		// WalkDir does not follow symlinks, not even that of its root.
		full, err := filepath.EvalSymlinks(folder)
		if err == nil {
			full, err = filepath.Abs(full)
		}
		if err != nil {
			return fmt.Errorf("cannot read a directory: %w", err)
		}
		if info, err := os.Stat(full); err == nil && !info.IsDir() {
			return WrongOptionError{fmt.Errorf("%s is not a directory", folder)}
		}
		m.doing(folder)
		err = filepath.WalkDir(full, func(path string, entry fs.DirEntry, err error) error {
			if err := cmp.Or(err, ctx.Err()); err != nil || entry.IsDir() {
				return err
			}
			relative, err := filepath.Rel(full, path)
			switch {
			case err != nil:
				return err
			case entry.Type()&fs.ModeSymlink != 0: // to a file of the folder, or out of it
				m.skip(filepath.ToSlash(relative), symlink)
			case entry.Type().IsRegular():
				return m.inspectFile(ctx, path, filepath.ToSlash(relative))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", folder, err)
		}
	}
	return nil
}

// inspectFile identifies a file by its first bytes.
func (m *builder) inspectFile(ctx context.Context, full, path string) error {
	start, err := head(full, 512)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\x7fELF")):
		return m.addBinary(ctx, full, path)
	case bytes.HasPrefix(start, []byte("!<arch>\ndebian-binary")):
		return m.addPackage(ctx, full, path, refitv1alpha1.PackageDeb, artifact.ReadDeb)
	case bytes.HasPrefix(start, []byte("\xed\xab\xee\xdb")):
		return m.addPackage(ctx, full, path, refitv1alpha1.PackageRpm, artifact.ReadRpm)
	case len(start) >= 262 && bytes.Equal(start[257:262], []byte("ustar")), strings.HasSuffix(path, ".tar"):
		return m.addArchive(full, path)
	case bytes.HasPrefix(start, []byte("\x1f\x8b")), bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")), bytes.HasPrefix(start, []byte("\xfd7zXZ")):
		m.skip(path, compressed)
	default:
		m.skip(path, notPart)
	}
	return nil
}

func (m *builder) addBinary(ctx context.Context, full, path string) error {
	// Runc is published as runc.amd64.
	name := strings.TrimSuffix(filepath.Base(full), filepath.Ext(filepath.Base(full)))
	if _, ok := artifact.PartOfBinary(filepath.Base(full)); ok {
		name = filepath.Base(full)
	}
	part, ok := artifact.PartOfBinary(name)
	if !ok {
		m.skip(path, notPart)
		return nil
	}
	platform, err := artifact.PlatformOf(full)
	if err != nil {
		m.warn("%s: %v", path, err)
		m.skip(path, notPart)
		return nil
	}
	os, arch, _ := strings.Cut(platform, "/")
	file := refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: os, Arch: arch}
	if file.Version, err = m.versionOf(ctx, full, path, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.files = append(m.files, &found{full: full, path: path, file: file})
	return nil
}

func (m *builder) addPackage(ctx context.Context, full, path string, kind refitv1alpha1.PackageKind,
	read func(context.Context, string) (artifact.Package, error),
) error {
	pkg, err := read(ctx, full)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	part, ok := artifact.PartOfPackage(pkg.Name)
	if !ok || pkg.Arch == "" {
		m.skip(path, notPart)
		return nil
	}
	m.files = append(m.files, &found{full: full, path: path, file: refitv1alpha1.ReleaseFile{
		Part: part, Name: pkg.Name, Kind: kind, OS: "linux", Arch: pkg.Arch, Version: pkg.Version,
	}})
	return nil
}

func (m *builder) addArchive(full, path string) error {
	images, err := readArchive(full)
	if err != nil {
		m.warn("%s: %v", path, err)
	}
	if len(images) == 0 {
		m.skip(path, notPart)
	}
	for _, image := range images {
		m.images = append(m.images, &found{full: full, path: path, image: image})
	}
	return nil
}

func head(path string, size int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, size))
}

// blob reads a file and returns its digest and size.
func (f *found) blob() (refitv1alpha1.Blob, error) {
	file, err := os.Open(f.full)
	if err != nil {
		return refitv1alpha1.Blob{}, err
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return refitv1alpha1.Blob{}, fmt.Errorf("cannot read %s: %w", f.path, err)
	}
	return refitv1alpha1.Blob{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: size, Path: f.path}, nil
}
