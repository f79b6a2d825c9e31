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

// Deb is what a Debian package says of itself.
type Deb struct{ Package, Version, Architecture string }

// debArchs are the platforms' names at Debian, where they differ from Go's.
var debArchs = map[string]string{"ppc64el": "ppc64le"}

// Arch is the package's platform as Go names it.
func (d Deb) Arch() string {
	if arch, other := debArchs[d.Architecture]; other {
		return arch
	}
	return d.Architecture
}

// ReadDeb asks dpkg-deb what a package is.
func ReadDeb(ctx context.Context, path string) (Deb, error) {
	if !filepath.IsAbs(path) { // so that it cannot be taken for an option
		return Deb{}, fmt.Errorf("%q is no full path", path)
	}
	program, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return Deb{}, node.ManualIntervention("NoDpkg", err, "install dpkg", "there is no dpkg-deb, which reads Debian packages")
	}
	said, err := run(ctx, program, "--field", path, "Package", "Version", "Architecture")
	if err != nil {
		return Deb{}, fmt.Errorf("read a package: %w", err)
	}
	var out Deb
	fields := map[string]*string{"Package": &out.Package, "Version": &out.Version, "Architecture": &out.Architecture}
	for line := range strings.Lines(string(said)) {
		name, value, _ := strings.Cut(line, ": ")
		if field := fields[name]; field != nil {
			*field = strings.TrimSpace(value)
		}
	}
	if out.Package == "" || out.Version == "" || out.Architecture == "" {
		return Deb{}, errors.New("the package does not say its name, version and architecture")
	}
	return out, nil
}

func checkDeb(ctx context.Context, path string, f refitv1alpha1.ReleaseFile) error {
	deb, err := ReadDeb(ctx, path)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read the package %s: %w", f.Name, ctx.Err())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return err
	case err != nil:
		return wrongFile("WrongPackage", "%s is no Debian package that can be read: %v", f.Name, err)
	case deb.Package != f.Name:
		return wrongFile("WrongPackage", "the package is %s, and the ClusterRelease says %s", deb.Package, f.Name)
	case deb.Arch() != f.Arch && deb.Architecture != "all":
		return wrongFile("WrongPlatform", "%s is made for %s, and the ClusterRelease says %s", f.Name, deb.Arch(), f.Arch)
	case deb.Version != f.Version:
		return wrongFile("WrongVersion", "%s is %s, and the ClusterRelease says %s", f.Name, deb.Version, f.Version)
	}
	return nil
}
