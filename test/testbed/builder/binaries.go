package builder

import (
	"context"
	"path/filepath"
)

// Binaries is where the programs of a Kubernetes release are.
type Binaries struct {
	Bin     string // directory with the seven commands
	EtcdBin string // directory with etcd, etcdctl and etcdutl
}

// Binaries finds the programs of a Kubernetes release and its etcd, and builds
// those that are missing: all that a control plane without nodes needs. It
// takes the entries that ClusterRelease takes, and neither needs root nor any tool but Go.
func (b *Builder) Binaries(ctx context.Context, kubernetes string) (Binaries, error) {
	parts, err := b.parts(ctx, kubernetes)
	if err != nil {
		return Binaries{}, err
	}
	if err := b.ensure(ctx, parts.etcd, parts.kubernetes); err != nil {
		return Binaries{}, err
	}
	return Binaries{Bin: b.bin(parts.kubernetes), EtcdBin: b.bin(parts.etcd)}, nil
}

// bin is the directory with the programs of an entry.
func (b *Builder) bin(r recipe) string { return filepath.Join(b.cache.entry(r), "bin") }
