package backup

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Records are the last backups of the cluster and the stores that they are in, as a control plane
// host knows them. A restore needs them after the API is lost: the digest proves the origin of a
// backup.
type Records struct {
	Stores  map[string]refitv1alpha1.BackupStoreSpec `json:"stores"`
	Backups []Record                                 `json:"backups"` // newest first
}

// Record is one backup that succeeded.
type Record struct {
	ClusterUID string `json:"clusterUID"`

	Name     string    `json:"name"`
	UID      string    `json:"uid"`
	Attempt  int       `json:"attempt"`
	Store    string    `json:"store"`
	Node     string    `json:"node,omitempty"` // that took it
	Digest   string    `json:"digest"`
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	Drilled  bool      `json:"drilled,omitempty"`
	Deleted  time.Time `json:"deleted,omitzero"` // from the store, by retention
}

// ID returns UID/ATTEMPT, as the keys of the store have it.
func (r Record) ID() string { return fmt.Sprintf("%s/%d", r.UID, r.Attempt) }
