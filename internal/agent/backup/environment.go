package backup

import (
	"context"
	"io"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Environment is what an attempt needs of the cluster and of its host. Tests replace its functions.
type Environment struct {
	// Objects reads the cluster as its administrator.
	Objects Objects
	// Pins returns the recipients and locations that this host allows.
	Pins func() (etcdbackup.Pins, error)
	// Dial connects to the etcd member on this host, or to a follower of an external etcd.
	Dial func(ctx context.Context) (Member, error)
	// HostFiles writes an archive of the files that a restore needs besides etcd.
	HostFiles func(to io.Writer) error
	// OpenStore opens a store. The credentials are nil for a path.
	OpenStore func(spec *refitv1alpha1.BackupStoreSpec, credentials store.Credentials) (store.Objects, error)
	// Space returns the disk space of the file system of a directory.
	Space func(dir string) (host.FreeSpace, error)
	// EtcdImage returns an image of etcd on this host that restores a backup of the version.
	EtcdImage func(ctx context.Context, version string) (string, error)
	// Hops fetches what a rehearsal of ClusterReleases needs and renders their manifests, in a
	// directory. It reports what it waits for.
	Hops func(ctx context.Context, dir string, releases []refitv1alpha1.ReleaseRef, wait func(reason string)) ([]rehearsal.Hop, error)
	// Unpin unpins the images that Hops has pinned for a directory, if there are any. It
	// may be nil.
	Unpin func(ctx context.Context, dir string) error
	// Runner connects to what runs drills and rehearsals.
	Runner func(ctx context.Context, observer rehearsal.Observer) (Runner, error)
	// Leftovers reports whether a killed agent has left a drill or a rehearsal.
	Leftovers func() bool
	// Record adds the records of a stored backup to those of the host. It may be nil.
	Record func(added backup.Records) error
	// Forget removes the record of a backup that a drill has refuted. It may be nil.
	Forget func(id backup.ID) error
}

// Runner runs drills and rehearsals: *rehearsal.Runner.
type Runner interface {
	// CanMount returns a failure if the host cannot mount the images of a drill.
	CanMount() error
	// Fits returns a failure if the host has too little memory for a rehearsal.
	Fits(bytes int64) error
	// Rehearse restores and compares a backup, then runs the hops on its data.
	Rehearse(ctx context.Context, b rehearsal.Backup, hops []rehearsal.Hop) (rehearsal.Result, error)
	// Clean removes what a killed agent left.
	Clean(ctx context.Context) error
	Close()
}

// Objects reads and marks objects of the cluster that nodes may not read.
type Objects interface {
	EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error)
	// EtcdBackups lists all of them.
	EtcdBackups(ctx context.Context) ([]refitv1alpha1.EtcdBackup, error)
	// ClusterUpgrades lists all of them.
	ClusterUpgrades(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error)
	BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error)
	// BackupStores lists all of them.
	BackupStores(ctx context.Context) ([]refitv1alpha1.BackupStore, error)
	// Credentials returns the credentials of a name, from the host or from a Secret.
	Credentials(ctx context.Context, name string) (store.Credentials, error)
	// ClusterUID returns the UID of the namespace kube-system, which identifies the cluster.
	ClusterUID(ctx context.Context) (string, error)
	// MarkDeleted records in an EtcdBackup that its stored attempt is deleted.
	MarkDeleted(ctx context.Context, name string, id backup.ID, now time.Time) error
}

// Member is the etcd member that a backup is taken from: *etcd.Client.
type Member interface {
	Facts(ctx context.Context) (*refitv1alpha1.EtcdFacts, error)
	Local(ctx context.Context) (etcd.Member, error)
	Snapshot(ctx context.Context) (io.ReadCloser, error)
	Close() error
}
