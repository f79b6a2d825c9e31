package backup

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// State is what is known about a stored attempt.
type State string

// The states of an attempt.
const (
	// Complete has a valid manifest, and all parts in the listed size.
	Complete State = "Complete"
	// Unfinished has no manifest: its writer was interrupted or is active.
	Unfinished State = "Unfinished"
	// Damaged has a manifest that is invalid or does not match the parts.
	Damaged State = "Damaged"
	// Unknown could not be read.
	Unknown State = "Unknown"
)

// LeftoverAge is the age at which an attempt without manifest counts as abandoned. No upload takes
// this long without writing an object.
const LeftoverAge = 24 * time.Hour

// Keep is a retention policy: a backup is kept while it is one of the Last newest or younger than
// Age. The zero value keeps everything.
type Keep struct {
	Last int
	Age  time.Duration
}

// Stored is an attempt in a store, as retention sees it.
type Stored struct {
	ID         ID
	State      State
	ClusterUID string // empty if unknown
	// Time is the manifest's, or that of the newest object if that is earlier: the clock of a host
	// may be wrong.
	Time time.Time
	// Modified is the time of the newest object.
	Modified time.Time
	// Proven is true for a backup that was restored in a drill.
	Proven bool
}

// Expired returns the attempts of a cluster to delete. It never returns the newest complete or the
// newest proven backup, and a complete or damaged one only if a newer complete one is kept.
// Attempts that are unknown or of other clusters are left alone.
func Expired(now time.Time, keep Keep, clusterUID string, all []Stored) []ID {
	ours := complete(all, clusterUID)
	var expired []ID
	proven := false
	for i, b := range ours {
		newestProven := b.Proven && !proven
		proven = proven || b.Proven
		if i > 0 && !newestProven && !keep.keeps(i, now.Sub(b.Time)) {
			expired = append(expired, b.ID)
		}
	}
	for _, b := range all {
		abandoned := now.Sub(b.Modified) > LeftoverAge
		superseded := len(ours) > 0 && b.Modified.Before(ours[0].Time)
		switch {
		case !abandoned:
		case b.State == Unfinished, b.State == Damaged && superseded && (b.ClusterUID == "" || b.ClusterUID == clusterUID):
			expired = append(expired, b.ID)
		}
	}
	return expired
}

// complete returns the complete backups of a cluster, newest first.
func complete(all []Stored, clusterUID string) []Stored {
	var ours []Stored
	for _, b := range all {
		if b.State == Complete && b.ClusterUID == clusterUID {
			ours = append(ours, b)
		}
	}
	slices.SortFunc(ours, func(a, b Stored) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(a.ID.UID, b.ID.UID), cmp.Compare(b.ID.Attempt, a.ID.Attempt))
	})
	return ours
}

// keeps reports whether the policy keeps the backup with this many newer ones and this age.
func (k Keep) keeps(newer int, age time.Duration) bool {
	if k == (Keep{}) {
		return true
	}
	return newer < k.Last || age < k.Age
}
