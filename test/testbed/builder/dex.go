package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Dex returns the path of an OpenID Connect issuer, and builds it if it is missing. It needs
// neither root nor any tool except Go and gcc.
func (b *Builder) Dex(ctx context.Context) (string, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return "", err
	}
	dex := dex(toolchain)
	if err := b.ensure(ctx, dex); err != nil {
		return "", err
	}
	return filepath.Join(b.bin(dex), "dex"), nil
}

func dex(toolchain string) recipe {
	const module = "github.com/dexidp/dex"
	return goBinaries{
		name: "dex", release: versions.Dex, toolchain: toolchain,
		modules:  []goModule{{Path: module, Version: versions.Dex}},
		commands: []goCommand{{pkg: module + "/cmd/dex"}},
		cgo:      true, // its storages need SQLite
		ldflags:  goStrip, takes: 5 * time.Minute,
	}
}
