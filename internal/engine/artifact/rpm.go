package artifact

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// rpmArchs maps rpm's names of architectures to Go's where they differ.
var rpmArchs = map[string]string{"x86_64": "amd64", "aarch64": "arm64", "noarch": ""}

// ArchOfRpm returns the name in Go of an architecture of rpm, empty for packages that fit all.
func ArchOfRpm(arch string) string { return archOf(rpmArchs, arch) }

// ReadRpm reads the metadata of a package with rpm. It does not check the signature of the vendor:
// the ClusterRelease has the digest of the file, and a signature.
func ReadRpm(ctx context.Context, path string) (Package, error) {
	if !filepath.IsAbs(path) { // or it could pass as an option
		return Package{}, fmt.Errorf("%q is not an absolute path", path)
	}
	rpm, err := exec.LookPath("rpm")
	if err != nil {
		return Package{}, node.ManualIntervention("NoRpm", err, "Install rpm on the host, then run `refit retry`",
			"cannot read rpm packages: rpm is not installed")
	}
	// No database: the caller may have no permission to create one.
	output, err := run(ctx, rpm, "--dbpath", "/nonexistent", "--query", "--nosignature", "--queryformat",
		`refit\t%{NAME}\t%|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\t%{ARCH}\t%{SOURCERPM}\n`, "--package", "--", path)
	if err != nil {
		return Package{}, fmt.Errorf("cannot read the package: %w", err)
	}
	for line := range strings.Lines(string(output)) { // among warnings
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 5 || fields[0] != "refit" {
			continue
		}
		if fields[4] == "(none)" {
			return Package{}, fmt.Errorf("%s is a package of sources", fields[1])
		}
		return Package{Name: fields[1], Version: strings.TrimPrefix(fields[2], "0:"), Arch: ArchOfRpm(fields[3])}, nil
	}
	return Package{}, fmt.Errorf("the package has no name, version or architecture")
}
