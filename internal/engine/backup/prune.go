package backup

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Mark records that an attempt is deleted.
type Mark func(ctx context.Context, id backup.ID) error

// Prune deletes what retention does not keep, as Delete does, and returns it and what only other
// hosts may delete.
func Prune(ctx context.Context, in Target, now time.Time, r backup.Retention, mark Mark) (deleted []backup.ID, refused []Listed, err error) {
	all, err := List(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	expired, refused := Expired(now, r, all)
	deleted, err = Delete(ctx, in, expired, mark)
	return deleted, refused, err
}

// Expired returns those of the attempts of a store that retention does not keep, and apart from
// them those that only other hosts may delete.
func Expired(now time.Time, r backup.Retention, all []Listed) (expired, refused []Listed) {
	candidates := make([]backup.Stored, 0, len(all))
	for _, l := range all {
		if r.Running == nil || !r.Running(l.ID) {
			candidates = append(candidates, candidate(r, l))
		}
	}
	ids := backup.Expired(now, r.Keep, r.ClusterUID, candidates)
	for _, l := range all {
		switch {
		case !slices.Contains(ids, l.ID):
		case r.Refused != nil && r.Refused(l.ID):
			refused = append(refused, l)
		default:
			expired = append(expired, l)
		}
	}
	return expired, refused
}

// Delete deletes attempts, and returns those that are deleted. It continues after an error. An
// attempt that cannot be marked first stays: nobody may take a deleted backup for a good one. After
// an error or a kill, the mark makes the next Prune delete the rest.
func Delete(ctx context.Context, in Target, attempts []Listed, mark Mark) ([]backup.ID, error) {
	var deleted []backup.ID
	var failed []error
	for _, l := range attempts {
		if err := mark(ctx, l.ID); err != nil {
			failed = append(failed, err)
			continue
		}
		if err := in.remove(ctx, l.attempt); err != nil {
			failed = append(failed, err)
			continue
		}
		deleted = append(deleted, l.ID)
	}
	return deleted, errors.Join(failed...)
}

// candidate returns an attempt as retention sees it.
func candidate(r backup.Retention, l Listed) backup.Stored {
	s := backup.Stored{ID: l.ID, State: l.State, Time: l.Modified, Modified: l.Modified, Relied: r.Relied != nil && r.Relied(l.ID)}
	s.Deleted = r.Deleted != nil && r.Deleted(l.ID)
	if l.Manifest != nil {
		s.ClusterUID = l.Manifest.ClusterUID
		s.Proven = r.Proven != nil && r.Proven(l.ID, l.Digest)
		if l.Manifest.Time.Before(s.Time) {
			s.Time = l.Manifest.Time
		}
	}
	return s
}
