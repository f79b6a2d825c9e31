package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Helm returns the path of Helm's CLI, and builds it if it is missing. It needs neither root nor
// any tool except Go.
func (b *Builder) Helm(ctx context.Context) (string, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return "", err
	}
	helm := helmCLI(toolchain)
	if err := b.ensure(ctx, helm); err != nil {
		return "", err
	}
	return filepath.Join(b.bin(helm), "helm"), nil
}

func helmCLI(toolchain string) recipe {
	return goBinaries{
		name: "helm", release: versions.Helm, toolchain: toolchain,
		modules:  []goModule{{Path: "helm.sh/helm/v4", Version: versions.Helm}},
		commands: []goCommand{{pkg: "helm.sh/helm/v4/cmd/helm"}},
		ldflags:  goStrip, takes: 3 * time.Minute,
	}
}
