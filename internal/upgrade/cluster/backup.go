package cluster

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Backup is an EtcdBackup that the operation of a Snapshot has created.
type Backup struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
	// Hop is the version of the hop that relies on it, Number its number among those of the hop,
	// and Retry the operation's spec.retry when it was created.
	Hop       string    `json:"hop"`
	Number    int64     `json:"number"`
	Retry     int64     `json:"retry,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	Deleting  bool      `json:"deleting,omitempty"`

	Spec   refitv1alpha1.EtcdBackupSpec   `json:"spec"`
	Status refitv1alpha1.EtcdBackupStatus `json:"status"`
}

// BackupStore is the part of a BackupStore that decisions need.
type BackupStore struct {
	Name string `json:"name"`
	// Directory is set if the store is a path on control plane hosts.
	Directory string `json:"directory,omitempty"`
}

// BackupStore returns the store of this name, nil if there is none.
func (s *Snapshot) BackupStore(name string) *BackupStore {
	for i := range s.BackupStores {
		if s.BackupStores[i].Name == name {
			return &s.BackupStores[i]
		}
	}
	return nil
}
