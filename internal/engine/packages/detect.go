package packages

import (
	"context"
	"os"
	"os/exec"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// dpkgStatus is the database of dpkg, which exists on every host that dpkg manages.
const dpkgStatus = "/var/lib/dpkg/status"

// Detect returns how a binary was installed: by the package manager that owns the file, or as a
// plain file. It also returns the package that owns the file. On a host that dpkg manages, rpm is a
// tool without a database.
func Detect(ctx context.Context, path string) (kind refitv1alpha1.PackageKind, owner string, err error) {
	for _, manager := range []struct {
		binary string
		driver Driver
	}{{"dpkg-query", Deb()}, {"rpm", Rpm()}} {
		if _, err := exec.LookPath(manager.binary); err != nil {
			continue
		}
		owner, err := manager.driver.Owner(ctx, path)
		if err != nil {
			return "", "", err
		}
		if owner != "" {
			return manager.driver.Kind(), owner, nil
		}
		if info, err := os.Stat(dpkgStatus); manager.binary == "dpkg-query" && err == nil && info.Size() > 0 {
			break
		}
	}
	return refitv1alpha1.PackageBinary, "", nil
}
