package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Packages is the address of the package repositories of the Kubernetes project. Each minor version
// has its own below it.
const Packages = "https://pkgs.k8s.io/core:/stable:/"

// The limits of the metadata of a repository.
const (
	maxSignedMetadata = 1 << 20
	maxMetadata       = 64 << 20
	maxPackages       = 100_000
	maxPackageSize    = 4 << 30
)

var (
	hexPattern  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	pathPattern = regexp.MustCompile(`^[A-Za-z0-9._+~:@=,%/-]+$`)
)

// Repository is a repository of packages that is signed with a pinned key.
type Repository struct {
	// URL is the directory of the repository.
	URL string
	// Keys are the fingerprints of the keys that may sign it.
	Keys []string
	Web  Web
	// Now is the current time, by default that of the clock.
	Now func() time.Time
}

// Package is a package of a repository, with the digest that the signed metadata names.
type Package struct {
	Name, Version string
	Arch          string // as the kind of package names it, such as x86_64
	Blob          refitv1alpha1.Blob
}

func (r *Repository) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// address returns the address of a path in the repository.
func (r *Repository) address(path string) string { return strings.TrimSuffix(r.URL, "/") + "/" + path }

// fetch reads a document that the signed metadata names, and decompresses it.
func (r *Repository) fetch(ctx context.Context, ref reference) ([]byte, error) {
	if ref.size > maxMetadata {
		return nil, fmt.Errorf("%s has %d bytes, more than this version of Refit reads", r.address(ref.path), ref.size)
	}
	raw, err := r.Web.Get(ctx, r.address(ref.path), ref.size)
	if err != nil {
		return nil, err
	}
	if err := ref.check(r.address(ref.path), raw); err != nil {
		return nil, err
	}
	return decompress(ref.path, raw)
}

// decompress decompresses a document by the extension of its path.
func decompress(name string, raw []byte) ([]byte, error) {
	switch path.Ext(name) {
	case ".gz":
		reader, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("cannot decompress %s: %w", name, err)
		}
		return readAll(reader, name, maxMetadata)
	case ".zst":
		reader, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderMaxMemory(maxMetadata), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("cannot decompress %s: %w", name, err)
		}
		defer reader.Close()
		return readAll(io.Reader(reader), name, maxMetadata)
	}
	return raw, nil
}

// blob returns the file of a package as the metadata names it.
func (r *Repository) blob(ref reference) (refitv1alpha1.Blob, error) {
	name := strings.TrimPrefix(ref.path, "./")
	switch {
	case !hexPattern.MatchString(ref.digest):
		return refitv1alpha1.Blob{}, errors.New("it has no SHA-256 digest")
	case ref.size <= 0 || ref.size > maxPackageSize:
		return refitv1alpha1.Blob{}, fmt.Errorf("it has an invalid size of %d bytes", ref.size)
	case !localPath(name):
		return refitv1alpha1.Blob{}, errOutside
	}
	address := r.address(name)
	return refitv1alpha1.Blob{Digest: "sha256:" + ref.digest, Size: ref.size, Path: PathOf(address), URLs: []string{address}}, nil
}

var errOutside = errors.New("its path leads out of the repository or contains invalid characters")

// localPath reports whether a path is relative, clean, and does not lead out of its directory.
func localPath(p string) bool { return pathPattern.MatchString(p) && path.Clean("/"+p) == "/"+p }
