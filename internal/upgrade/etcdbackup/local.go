package etcdbackup

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The BackupStore that `refit install` creates, so that a first backup needs no bucket.
const (
	// LocalStore is its name.
	LocalStore = "local"
	// LocalDirectory is its directory on each control plane host. It is not below the directory of
	// the agent's state, which `refit uninstall` removes.
	LocalDirectory = "/var/lib/refit-backups"
	// IdentityFile is the file with the identity of its backups, beside the release key on the
	// machine that runs `refit install`.
	IdentityFile = "refit-backup.key"
	// localKeep is the number of backups that each host keeps: they share the disk of etcd.
	localKeep = 5
)

// Latest returns the node of the latest stored backup in a store.
func Latest(store string, all []refitv1alpha1.EtcdBackup) string {
	var node string
	var at *metav1.Time
	for i := range all {
		if b := &all[i]; b.Spec.Store == store && b.Status.ReadBack != nil && b.Status.Deleted == nil && (at == nil || at.Before(b.Status.ReadBack)) {
			node, at = b.Status.Node, b.Status.ReadBack
		}
	}
	return node
}

// NewLocalStore returns the BackupStore for the disks of control plane hosts.
func NewLocalStore(recipients []string) *refitv1alpha1.BackupStore {
	store := &refitv1alpha1.BackupStore{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "BackupStore"},
		ObjectMeta: metav1.ObjectMeta{Name: LocalStore},
	}
	store.Spec.Path = &refitv1alpha1.PathStore{Directory: LocalDirectory}
	store.Spec.Recipients, store.Spec.Keep = recipients, &refitv1alpha1.BackupRetention{Last: localKeep}
	return store
}
