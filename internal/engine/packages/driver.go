package packages

import (
	"context"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Driver is one kind of package manager. Each method can be repeated after a kill.
type Driver interface {
	Kind() refitv1alpha1.PackageKind
	// Hold takes the lock of the package manager and keeps it until Release, so that no other one
	// starts between two calls. It reports what it waits for, and ends with its context.
	Hold(ctx context.Context, waiting func(reason string)) error
	Release()
	// Owner returns the package that owns a file, and "" if none does.
	Owner(ctx context.Context, path string) (string, error)
	// Installed returns the full versions of those names that are installed.
	Installed(ctx context.Context, names ...string) (map[string]string, error)
	// Settled is Installed before the first change of an operation. It fails with the reason
	// HalfInstalled if the installation of a name was interrupted: no version of it can be kept for
	// a rollback.
	Settled(ctx context.Context, names ...string) (map[string]string, error)
	// Held returns the packages that the operator has put on hold.
	Held(ctx context.Context) ([]string, error)
	// Files returns the files and directories of installed packages.
	Files(ctx context.Context, names ...string) ([]string, error)
	// Prepare keeps what a rollback installs: in dir, a package file of exactly the installed
	// version of each name. It waits for other package managers, as Install does.
	Prepare(ctx context.Context, dir string, names []string) error
	// Check refuses what Install would refuse before its first change, and a host with other
	// packages that Install could touch and that are half-installed, not configured or wait for
	// triggers. It changes nothing.
	Check(ctx context.Context, files []string, opts Options) error
	// Install installs the packages in these files, at exactly their versions. It starts and stops
	// no service.
	Install(ctx context.Context, files []string, opts Options) error
	// Configure finishes an interrupted installation of these packages, as far as that is possible
	// without their files. It fails with the reason HalfInstalled where Install is needed.
	Configure(ctx context.Context, names []string) error
	// Extract copies one file of a package file to a path.
	Extract(ctx context.Context, file, name, to string) error
	// Verify returns what is wrong with installed packages. Changed configuration files are not.
	Verify(ctx context.Context, names []string) (problems []string, err error)
}

// Of returns the driver of a kind, or nil for plain files.
func Of(kind refitv1alpha1.PackageKind) Driver {
	switch kind {
	case refitv1alpha1.PackageDeb:
		return Deb()
	case refitv1alpha1.PackageRpm:
		return Rpm()
	case refitv1alpha1.PackageBinary:
	}
	return nil
}

// Options are those of an installation.
type Options struct {
	// Hold has the packages that were held before the first attempt. Install holds them again, and
	// no other package of the files.
	Hold []string
	// Downgrade allows a version lower than the installed one, which only a rollback may do.
	Downgrade bool
}
