package backup

import (
	"context"
	"io"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Environment is what an attempt needs of the cluster and of its host. Tests replace its functions.
type Environment struct {
	// Objects reads the cluster as its administrator.
	Objects Objects
	// Pins returns the recipients and locations that this host allows.
	Pins func() (etcdbackup.Pins, error)
	// Dial connects to the etcd member on this host.
	Dial func() (Member, error)
	// HostFiles writes an archive of the files that a restore needs besides etcd.
	HostFiles func(to io.Writer) error
	// OpenStore opens a store. The credentials are nil for a path.
	OpenStore func(spec *refitv1alpha1.BackupStoreSpec, credentials Credentials) (enginebackup.Objects, error)
	// FreeBytes returns the free disk space of a directory.
	FreeBytes func(dir string) (uint64, error)
}

// Objects reads objects of the cluster that nodes may not read.
type Objects interface {
	EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error)
	BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error)
	// Credentials returns the credentials of a name, from the host or from a Secret.
	Credentials(ctx context.Context, name string) (Credentials, error)
	// ClusterUID returns the UID of the namespace kube-system, which identifies the cluster.
	ClusterUID(ctx context.Context) (string, error)
}

// Member is the etcd member on this host: *etcd.Client.
type Member interface {
	Facts(ctx context.Context) (*refitv1alpha1.EtcdFacts, error)
	Local(ctx context.Context) (etcd.Member, error)
	Snapshot(ctx context.Context) (io.ReadCloser, error)
	Close() error
}
