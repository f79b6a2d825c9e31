package cluster

import (
	"strconv"
	"strings"
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

// MaxBackupNumber is the highest number of a backup: an operation takes fewer.
const MaxBackupNumber = 1_000_000

// BackupName is the name of a backup of an operation, at most 63 characters long. It follows from
// the hop and the number: the API has one of each.
func BackupName(op *Operation, hop string, number int64) string {
	uid := op.UID[:min(8, len(op.UID))]
	suffix := "-" + uid + "-" + hop + "-" + strconv.FormatInt(number, 10)
	return strings.TrimRight(op.Name[:min(len(op.Name), max(0, 63-len(suffix)))], "-.") + suffix
}

// BackupStore is the part of a BackupStore that decisions need.
type BackupStore struct {
	Name string `json:"name"`
	// Directory is set if the store is a path on control plane hosts.
	Directory string `json:"directory,omitempty"`
	// IdentityProven is Yes if an identity of a recipient has decrypted a backup.
	IdentityProven Answer `json:"identityProven,omitempty"`
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
