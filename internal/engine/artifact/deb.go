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

// Deb is the metadata of a Debian package.
type Deb struct{ Package, Version, Architecture string }

// debArchs maps Debian's names of architectures to Go's where they differ.
var debArchs = map[string]string{"ppc64el": "ppc64le"}

// Arch returns the package's architecture by its name in Go.
func (d Deb) Arch() string {
	if arch, other := debArchs[d.Architecture]; other {
		return arch
	}
	return d.Architecture
}

// ReadDeb reads the metadata of a package with dpkg-deb.
func ReadDeb(ctx context.Context, path string) (Deb, error) {
	if !filepath.IsAbs(path) { // or it could pass as an option
		return Deb{}, fmt.Errorf("%q is not an absolute path", path)
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return Deb{}, node.ManualIntervention("NoDpkg", err, "Install dpkg on the host, then run `refit retry`",
			"cannot read Debian packages: dpkg-deb is not installed")
	}
	output, err := run(ctx, dpkg, "--field", path, "Package", "Version", "Architecture")
	if err != nil {
		return Deb{}, fmt.Errorf("cannot read the package: %w", err)
	}
	var out Deb
	fields := map[string]*string{"Package": &out.Package, "Version": &out.Version, "Architecture": &out.Architecture}
	for line := range strings.Lines(string(output)) {
		name, value, _ := strings.Cut(line, ": ")
		if field := fields[name]; field != nil {
			*field = strings.TrimSpace(value)
		}
	}
	if out.Package == "" || out.Version == "" || out.Architecture == "" {
		return Deb{}, errors.New("the package has no name, version or architecture")
	}
	return out, nil
}

func checkDeb(ctx context.Context, path string, f refitv1alpha1.ReleaseFile) error {
	deb, err := ReadDeb(ctx, path)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("cannot read package %s: %w", f.Name, ctx.Err())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return err
	case err != nil:
		return wrongFile("WrongPackage", "%s is not a readable Debian package: %v", f.Name, err)
	case deb.Package != f.Name:
		return wrongFile("WrongPackage", "the package is %s, but the ClusterRelease names %s", deb.Package, f.Name)
	case deb.Arch() != f.Arch && deb.Architecture != "all":
		return wrongFile("WrongPlatform", "%s is built for %s, but the ClusterRelease names %s", f.Name, deb.Arch(), f.Arch)
	case deb.Version != f.Version:
		return wrongFile("WrongVersion", "%s has version %s, but the ClusterRelease names %s", f.Name, deb.Version, f.Version)
	}
	return nil
}
