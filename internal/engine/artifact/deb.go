package artifact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Package is the metadata of a package.
type Package struct {
	Name, Version string
	Arch          string // by its name in Go; empty for a package that fits every one
}

// debArchs maps Debian's names of architectures to Go's where they differ.
var debArchs = map[string]string{"ppc64el": "ppc64le", "all": ""}

// ReadDeb reads the metadata of a package with dpkg-deb.
func ReadDeb(ctx context.Context, path string) (Package, error) {
	if !filepath.IsAbs(path) { // or it could pass as an option
		return Package{}, fmt.Errorf("%q is not an absolute path", path)
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return Package{}, node.ManualIntervention("NoDpkg", err, "Install dpkg on the host, then run `refit retry`",
			"cannot read Debian packages: dpkg-deb is not installed")
	}
	output, err := run(ctx, dpkg, "--field", path, "Package", "Version", "Architecture")
	if err != nil {
		return Package{}, fmt.Errorf("cannot read the package: %w", err)
	}
	var out Package
	fields := map[string]*string{"Package": &out.Name, "Version": &out.Version, "Architecture": &out.Arch}
	for line := range strings.Lines(string(output)) {
		name, value, _ := strings.Cut(line, ": ")
		if field := fields[name]; field != nil {
			*field = strings.TrimSpace(value)
		}
	}
	if out.Name == "" || out.Version == "" || out.Arch == "" {
		return Package{}, errors.New("the package has no name, version or architecture")
	}
	out.Arch = ArchOfDeb(out.Arch)
	return out, nil
}

// ArchOfDeb returns the name in Go of an architecture of Debian, empty for packages that fit all.
func ArchOfDeb(arch string) string { return archOf(debArchs, arch) }

// archOf returns the name of an architecture in Go.
func archOf(names map[string]string, arch string) string {
	if other, differs := names[arch]; differs {
		return other
	}
	return arch
}

// checkPackage checks that a package is the one that the ClusterRelease names.
func checkPackage(ctx context.Context, path string, f refitv1alpha1.ReleaseFile, read func(context.Context, string) (Package, error)) error {
	has, err := read(ctx, path)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("cannot read package %s: %w", f.Name, ctx.Err())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return err
	case err != nil:
		return wrongFile("WrongPackage", "%s is not a readable package of kind %s: %v", f.Name, f.Kind, err)
	case has.Name != f.Name:
		return wrongFile("WrongPackage", "the package is %s, but the ClusterRelease names %s", has.Name, f.Name)
	case has.Arch != f.Arch && has.Arch != "":
		return wrongFile("WrongPlatform", "%s is built for %s, but the ClusterRelease names %s", f.Name, has.Arch, f.Arch)
	case has.Version != f.Version:
		return wrongFile("WrongVersion", "%s has version %s, but the ClusterRelease names %s", f.Name, has.Version, f.Version)
	}
	return nil
}
