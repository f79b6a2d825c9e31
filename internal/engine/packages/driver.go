package packages

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Driver is one kind of package manager. Each method can be repeated after a kill.
type Driver interface {
	Kind() refitv1alpha1.PackageKind
	// Owner is the package that owns a file; empty when none does.
	Owner(ctx context.Context, path string) (string, error)
	// Installed has the full versions of those names that are installed.
	Installed(ctx context.Context, names ...string) (map[string]string, error)
	// Held are the packages that somebody told the package manager to leave alone.
	Held(ctx context.Context) ([]string, error)
	// Prepare makes the way back before the way forward: a package file of exactly the installed version in dir, for each of names that is installed.
	Prepare(ctx context.Context, dir string, names []string) error
	// Check refuses what Install would refuse before it begins, and a host with other packages that
	// are half-installed, not configured or wait for triggers. It changes nothing.
	Check(ctx context.Context, files []string, opts Options) error
	// Install brings the packages in these files to be installed, at exactly their versions. It starts and stops no service.
	Install(ctx context.Context, files []string, opts Options) error
	// Configure finishes an interrupted installation of these packages, as far as that is possible
	// without their files. It fails with the reason HalfInstalled where Install is needed.
	Configure(ctx context.Context, names []string) error
	// Verify tells what is wrong with installed packages. Changed configuration is not wrong.
	Verify(ctx context.Context, names []string) (problems []string, err error)
}

// Options say how to install.
type Options struct {
	// Hold are those packages that were held before the first attempt. They are held again afterwards, and no other package of the files is.
	Hold []string
	// Downgrade lets a version be lower than the installed one, which only the way back may do.
	Downgrade bool
}
