package backups

import (
	"context"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Stores are the BackupStores of a cluster and what they contain according to it:
// *operations.Cluster.
type Stores interface {
	EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error)
	Backups(ctx context.Context) ([]refitv1alpha1.EtcdBackup, error)
	// List returns all ClusterUpgrades.
	List(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error)
	BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error)
	BackupStores(ctx context.Context) ([]refitv1alpha1.BackupStore, error)
	BackupSecret(ctx context.Context, name string) (*corev1.Secret, error)
	ClusterUID(ctx context.Context) (string, error)
	ProveIdentity(ctx context.Context, store, backup string, recipients []string) (bool, error)
	// MayMarkDeleted returns an error if the user may not record that backups are deleted.
	MayMarkDeleted(ctx context.Context) error
	// MarkDeleted records in an EtcdBackup that its stored attempt is deleted.
	MarkDeleted(ctx context.Context, name string, id backup.ID) error
}

// Access opens stores from the machine of the user.
type Access struct {
	// Path is where the directory of a store is mounted on this machine; empty if it is not.
	Path string
}

// elsewhere reports whether only hosts can read a store.
func (a *Access) elsewhere(s *refitv1alpha1.BackupStore) bool {
	return s.Spec.Path != nil && a.Path == ""
}

// open opens a store with the credentials in the cluster.
func (a *Access) open(ctx context.Context, c Stores, s *refitv1alpha1.BackupStore) (enginebackup.Target, error) {
	spec := s.Spec
	if spec.Path == nil && a.Path != "" {
		return enginebackup.Target{}, exit.Usagef("--path is for directories, and BackupStore %s is %s", s.Name, etcdbackup.Location(&spec))
	}
	if spec.Path != nil {
		directory, err := filepath.Abs(a.Path)
		if err != nil {
			return enginebackup.Target{}, err
		}
		spec.Path = &refitv1alpha1.PathStore{Directory: directory}
	}
	var credentials store.Credentials
	if spec.Credentials != "" {
		secret, err := c.BackupSecret(ctx, spec.Credentials)
		if err != nil {
			return enginebackup.Target{}, err
		}
		if credentials, err = store.SecretCredentials(secret); err != nil {
			return enginebackup.Target{}, err
		}
	}
	opened, err := store.Open(&spec, credentials)
	return enginebackup.Target{Store: opened, Prefix: spec.Prefix}, err
}
