package v1alpha1

import "time"

// KindBackupVerification is the kind of the result of `refit backup verify`.
const KindBackupVerification = "BackupVerification"

// BackupVerification is the result of `refit backup verify` for a backup that is proven: every byte
// of it was read from the store and has the digest that the EtcdBackup records.
type BackupVerification struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	Backup   string `json:"backup"` // the EtcdBackup
	Store    string `json:"store"`
	Location string `json:"location"` // of the store
	Object   string `json:"object"`   // the key of the manifest
	Digest   string `json:"digest"`   // of the manifest

	Time        time.Time      `json:"time"` // of the snapshot
	EtcdVersion string         `json:"etcdVersion"`
	Revision    int64          `json:"revision"`
	Parts       []VerifiedPart `json:"parts"`

	// Decrypted is true if every part was decrypted, and its content has the recorded digest.
	Decrypted bool `json:"decrypted"`
	// Recipients are those whose identities have decrypted every part.
	Recipients []string `json:"recipients,omitempty"`
	// IdentityProven is true if that is recorded in the status of the BackupStore, and NotRecorded
	// is why it is not.
	IdentityProven bool   `json:"identityProven"`
	NotRecorded    string `json:"notRecorded,omitempty"`
	// Deleted is when retention marked the backup as deleted: the next run may delete its objects.
	// It is zero if the backup is not marked.
	Deleted time.Time `json:"deleted,omitzero"`
	// Drilled is true if the backup was restored in a drill.
	Drilled bool  `json:"drilled"`
	Seconds int64 `json:"seconds"`
}

// VerifiedPart is an object of a backup, with its sizes in bytes.
type VerifiedPart struct {
	Name   string `json:"name"`
	Stored int64  `json:"stored"`
	Plain  int64  `json:"plain"` // before compression and encryption
}
