package builder

import (
	"context"
	"path/filepath"
)

// Binaries are the directories of the binaries of a Kubernetes release.
type Binaries struct {
	Bin     string // directory with the seven commands
	EtcdBin string // directory with etcd, etcdctl and etcdutl
}

// Binaries returns the binaries of a Kubernetes release and its etcd, and builds missing ones:
// everything for a control plane without nodes. It shares entries with Release, and needs neither
// root nor any tool except Go.
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

// bin returns the directory of the binaries of an entry.
func (b *Builder) bin(r recipe) string { return filepath.Join(b.cache.entry(r), "bin") }
