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

// LeftoverAge is the age at which an attempt without manifest counts as abandoned, unless a later
// attempt of the same backup is complete. No upload takes this long without writing an object.
const LeftoverAge = 24 * time.Hour

// Keep is a retention policy: a backup is kept while it is one of the Last newest or younger than
// Age. The zero value keeps everything.
type Keep struct {
	Last int
	Age  time.Duration
}

// Retention is which backups of a cluster are kept.
type Retention struct {
	ClusterUID string
	Keep       Keep
	// Proven reports whether a backup was restored in a drill. It may be nil, as the others.
	Proven func(id ID, digest string) bool
	// Running reports whether an attempt is in progress. It is left alone and supersedes no other
	// one: its drill may still refute it.
	Running func(id ID) bool
	// Relied reports whether something in progress relies on a backup.
	Relied func(id ID) bool
	// Deleted reports whether an attempt is marked as deleted: what is left of it has to go.
	Deleted func(id ID) bool
	// Refused reports whether only another host may delete an attempt. It stays, and supersedes
	// others.
	Refused func(id ID) bool
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
	// Relied is true for a backup that something in progress relies on. It is never deleted.
	Relied bool
	// Deleted is true for an attempt that is marked as deleted. It supersedes no other one.
	Deleted bool
}

// Expired returns the attempts of a cluster to delete. It never returns the newest complete or the
// newest proven backup, nor one that something relies on, and a complete or damaged one only if a
// newer complete one is kept. Attempts that are unknown or of other clusters are left alone. One
// that is marked as deleted takes no place of another, and is returned whatever the policy keeps.
func Expired(now time.Time, keep Keep, clusterUID string, all []Stored) []ID {
	ours := complete(all, clusterUID)
	var expired []ID
	proven := false
	for i, b := range ours {
		newestProven := b.Proven && !proven
		proven = proven || b.Proven
		if i > 0 && !newestProven && !b.Relied && !keep.keeps(i, now.Sub(b.Time)) {
			expired = append(expired, b.ID)
		}
	}
	last := lastAttempts(ours)
	for _, b := range all {
		abandoned := now.Sub(b.Modified) > LeftoverAge || b.State == Unfinished && b.ID.Attempt < last[b.ID.UID]
		newer := newerThan(b.Modified, ours)
		superseded := newer > 0 && !keep.keeps(newer, now.Sub(b.Modified))
		switch {
		case b.Deleted:
			if b.leftover(clusterUID, ours) {
				expired = append(expired, b.ID)
			}
		case !abandoned, b.Relied:
		case b.State == Unfinished, b.State == Damaged && superseded && (b.ClusterUID == "" || b.ClusterUID == clusterUID):
			expired = append(expired, b.ID)
		}
	}
	return expired
}

// leftover reports whether the rest of an attempt that is marked as deleted can go. A complete one
// stays if those that superseded it are lost since.
func (b Stored) leftover(clusterUID string, ours []Stored) bool {
	switch {
	case b.Relied, b.State == Unknown, b.ClusterUID != "" && b.ClusterUID != clusterUID:
		return false
	case b.State == Unfinished:
		return true
	}
	superseded := len(ours) > 0 && !ours[0].Time.Before(b.Time)
	return superseded && (!b.Proven || slices.ContainsFunc(ours, func(o Stored) bool { return o.Proven }))
}

// lastAttempts returns the last complete attempt of each backup. An earlier one without manifest
// was given up: it can never count.
func lastAttempts(complete []Stored) map[string]int {
	last := map[string]int{}
	for _, b := range complete {
		last[b.ID.UID] = max(last[b.ID.UID], b.ID.Attempt)
	}
	return last
}

// newerThan counts the backups that are newer than a time.
func newerThan(at time.Time, all []Stored) (n int) {
	for _, b := range all {
		if at.Before(b.Time) {
			n++
		}
	}
	return n
}

// complete returns the complete backups of a cluster that are not marked as deleted, newest first.
func complete(all []Stored, clusterUID string) []Stored {
	var ours []Stored
	for _, b := range all {
		if b.State == Complete && b.ClusterUID == clusterUID && !b.Deleted {
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
