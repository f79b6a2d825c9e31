package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Registry returns the path of the registry server of the distribution project, and builds it if it
// is missing. It needs neither root nor any tool except Go.
func (b *Builder) Registry(ctx context.Context) (string, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return "", err
	}
	registry := registryServer(toolchain)
	if err := b.ensure(ctx, registry); err != nil {
		return "", err
	}
	return filepath.Join(b.bin(registry), "registry"), nil
}

func registryServer(toolchain string) recipe {
	return goBinaries{
		name: "registry", release: versions.Distribution, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/distribution/distribution/v3", Version: versions.Distribution}},
		commands: []goCommand{{pkg: "github.com/distribution/distribution/v3/cmd/registry"}},
		ldflags:  goStrip, takes: time.Minute,
	}
}
