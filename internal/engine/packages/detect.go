package packages

import (
	"context"
	"errors"
	"os/exec"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Detect returns how a binary was installed: by the package manager that owns the file, or as a
// plain file. It also returns the Debian package that owns the file.
func Detect(ctx context.Context, path string) (kind refitv1alpha1.PackageKind, owner string, err error) {
	if _, err := exec.LookPath("dpkg-query"); err == nil {
		owner, err := Deb().Owner(ctx, path)
		if err != nil {
			return "", "", err
		}
		if owner != "" {
			return refitv1alpha1.PackageDeb, owner, nil
		}
	}
	_, err = output(exec.CommandContext(ctx, "rpm", "--query", "--file", "--", path))
	switch {
	case err == nil:
		return refitv1alpha1.PackageRpm, "", nil
	case exitCode(err) > 0, errors.Is(err, exec.ErrNotFound):
		return refitv1alpha1.PackageBinary, "", nil
	}
	return "", "", wrap(err, "cannot find the rpm package of %s", path)
}
