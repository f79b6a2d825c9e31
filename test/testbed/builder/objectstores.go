package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// ObjectStores are the servers that tests of backups run. They belong to no Kubernetes release.
type ObjectStores struct {
	MinIO   string // path of minio
	FakeGCS string // path of fake-gcs-server
}

// ObjectStores returns both servers, and builds missing ones. It needs neither root nor any tool
// except Go.
func (b *Builder) ObjectStores(ctx context.Context) (ObjectStores, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return ObjectStores{}, err
	}
	minio, gcs := minio(toolchain), fakeGCS(toolchain)
	if err := b.ensure(ctx, gcs, minio); err != nil {
		return ObjectStores{}, err
	}
	return ObjectStores{
		MinIO:   filepath.Join(b.bin(minio), "minio"),
		FakeGCS: filepath.Join(b.bin(gcs), "fake-gcs-server"),
	}, nil
}

func minio(toolchain string) recipe {
	return goBinaries{
		name: "minio", release: versions.MinIO, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/minio/minio", Version: versions.MinIO}},
		commands: []goCommand{{pkg: "github.com/minio/minio"}},
		ldflags:  goStrip, takes: 5 * time.Minute,
	}
}

func fakeGCS(toolchain string) recipe {
	return goBinaries{
		name: "fake-gcs-server", release: versions.FakeGCSServer, toolchain: toolchain,
		modules:  []goModule{{Path: "github.com/fsouza/fake-gcs-server", Version: versions.FakeGCSServer}},
		commands: []goCommand{{pkg: "github.com/fsouza/fake-gcs-server"}},
		ldflags:  goStrip, takes: time.Minute,
	}
}
