package v1alpha1

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The kinds of the documents about backups.
const (
	KindBackup  = "Backup"
	KindBackups = "Backups"
)

// Backup is the result of `refit backup show`, and each line of `refit backup create -o json`.
type Backup struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	BackupState `json:",inline"`

	// UnreachableSince is set while the API server does not respond to a command that follows the
	// backup.
	UnreachableSince time.Time `json:"unreachableSince,omitzero"`
	UnreachableError string    `json:"unreachableError,omitempty"`

	// Recipients are the age public keys that the BackupStore encrypts to, once `refit backup
	// create` has stored the backup, and NextSteps are the commands to run then.
	Recipients []string         `json:"recipients,omitempty"`
	NextSteps  []BackupNextStep `json:"nextSteps,omitempty"`
}

// BackupNextStep is a command to run after a backup was stored.
type BackupNextStep struct {
	Purpose string `json:"purpose"`        // one of the Step constants
	Node    string `json:"node,omitempty"` // where to run it as root; empty: on the machine of the user
	Command string `json:"command"`
}

// The purposes of next steps.
const (
	StepProveIdentity = "ProveIdentity" // that somebody can decrypt the backups of the store
	StepRestore       = "Restore"       // shows how to restore etcd
)

// Backups is the result of `refit backup list`.
type Backups struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	// Backups are all EtcdBackups, the newest first.
	Backups []BackupState `json:"backups"`
}

// BackupState is an EtcdBackup and its progress.
type BackupState struct {
	Name  string `json:"name"`
	UID   string `json:"uid"` // a part of the keys of its objects
	Store string `json:"store"`
	// Identity is whether somebody can decrypt the backups of the store; nil if its BackupStore is
	// unknown.
	Identity  *BackupIdentity `json:"identity,omitempty"`
	Operation string          `json:"operation,omitempty"` // the upgrade that relies on it
	State     string          `json:"state"`               // one of the Backup constants
	Ended     bool            `json:"ended"`
	Message   string          `json:"message,omitempty"` // what it does or waits for, until it has ended

	CreationTime time.Time `json:"creationTime"`
	Node         string    `json:"node,omitempty"`
	Attempt      int64     `json:"attempt,omitempty"`
	Step         string    `json:"step,omitempty"` // of the agent
	// ExpectedSeconds is how long the last successful backup of this kind took; 0 if there is none.
	ExpectedSeconds int64 `json:"expectedSeconds,omitempty"`

	Revision int64     `json:"revision,omitempty"`
	Keys     int64     `json:"keys,omitempty"`
	Hash     string    `json:"hash,omitempty"`
	Size     int64     `json:"size,omitempty"` // of the snapshot, in bytes
	Object   string    `json:"object,omitempty"`
	Digest   string    `json:"digest,omitempty"`
	Verified time.Time `json:"verified,omitzero"` // when it was read back from the store
	Deleted  time.Time `json:"deleted,omitzero"`  // when retention deleted it from the store

	Drill     string                       `json:"drill"`
	Drilled   time.Time                    `json:"drilled,omitzero"`
	Hops      []string                     `json:"hops,omitempty"` // the ClusterReleases to rehearse
	Rehearsed []refitv1alpha1.RehearsedHop `json:"rehearsed,omitempty"`

	// Error is why the last attempt failed.
	Error *refitv1alpha1.BackupError `json:"error,omitempty"`
}

// BackupIdentity is the condition IdentityProven of a BackupStore.
type BackupIdentity struct {
	// Proven is true if an identity of a recipient of the store has decrypted a backup.
	Proven  bool   `json:"proven"`
	Message string `json:"message"`
}

// The states of a backup.
const (
	BackupPending   = "Pending" // the controller has not seen it yet
	BackupRunning   = "Running"
	BackupStalled   = "Stalled" // see message: manual intervention is required
	BackupSucceeded = "Succeeded"
	BackupFindings  = "Findings" // it is stored, and the rehearsal found problems
	BackupUnproven  = "Unproven" // it is stored, but its agent did not do the requested drill
	BackupFailed    = "Failed"
	BackupDeleted   = "Deleted" // retention has deleted it from its store
)

// Findings is the number of problems that the rehearsal found.
func (b *BackupState) Findings() int {
	count := 0
	for i := range b.Rehearsed {
		count += len(b.Rehearsed[i].Findings) + int(b.Rehearsed[i].MoreFindings)
	}
	return count
}
