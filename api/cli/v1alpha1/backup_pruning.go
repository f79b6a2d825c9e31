package v1alpha1

import "time"

// KindBackupPruning is the kind of the result of `refit backup prune`.
const KindBackupPruning = "BackupPruning"

// BackupPruning is the result of `refit backup prune`.
type BackupPruning struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	DryRun bool          `json:"dryRun"`
	Stores []PrunedStore `json:"stores"`
}

// PrunedStore is a BackupStore whose backups are pruned.
type PrunedStore struct {
	Name     string `json:"name"`
	Location string `json:"location"`
	KeepLast int    `json:"keepLast,omitempty"` // spec.keep of the BackupStore
	KeepAge  string `json:"keepAge,omitempty"`

	// Skipped is why the store was not read.
	Skipped string `json:"skipped,omitempty"`
	// Kept is the number of complete backups of this cluster that stay.
	Kept int `json:"kept"`
	// Expired are the attempts to delete.
	Expired []StoredAttempt `json:"expired,omitempty"`
	// Unmarked are the EtcdBackups of expired attempts that are not marked as deleted, because the
	// directory may be a copy of the store.
	Unmarked []string `json:"unmarked,omitempty"`
	// LeftAlone are attempts that stay: they are damaged, unreadable or unfinished, or have
	// expired, but only the host that took them may delete them.
	LeftAlone []StoredAttempt `json:"leftAlone,omitempty"`
	// Gone are the EtcdBackups that succeeded and that retention has not deleted, but that have no
	// objects in the store any more.
	Gone []string `json:"gone,omitempty"`
}

// StoredAttempt is what a store has of one attempt of an EtcdBackup.
type StoredAttempt struct {
	UID      string    `json:"uid"` // of the EtcdBackup
	Attempt  int       `json:"attempt"`
	Backup   string    `json:"backup,omitempty"` // the EtcdBackup, if it exists
	State    string    `json:"state"`            // Complete, Unfinished, Damaged or Unknown
	Problem  string    `json:"problem,omitempty"`
	Size     int64     `json:"size"` // in bytes
	Modified time.Time `json:"modified"`
	Deleted  bool      `json:"deleted"`
}

// Expired is the number of attempts to delete, and their size.
func (p *BackupPruning) Expired() (attempts int, size int64) {
	for i := range p.Stores {
		for _, each := range p.Stores[i].Expired {
			attempts, size = attempts+1, size+each.Size
		}
	}
	return attempts, size
}

// Deleted is the number of attempts that are deleted.
func (p *BackupPruning) Deleted() (attempts int) {
	for i := range p.Stores {
		for _, each := range p.Stores[i].Expired {
			if each.Deleted {
				attempts++
			}
		}
	}
	return attempts
}
