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

// Prune deletes what retention does not keep, as Delete does, and returns it.
func Prune(ctx context.Context, in Target, now time.Time, r backup.Retention, mark Mark) ([]backup.ID, error) {
	all, err := List(ctx, in)
	if err != nil {
		return nil, err
	}
	return Delete(ctx, in, Expired(now, r, all), mark)
}

// Expired returns those of the attempts of a store that retention does not keep.
func Expired(now time.Time, r backup.Retention, all []Listed) []Listed {
	candidates := make([]backup.Stored, 0, len(all))
	for _, l := range all {
		if r.Running == nil || !r.Running(l.ID) {
			candidates = append(candidates, candidate(r, l))
		}
	}
	ids := backup.Expired(now, r.Keep, r.ClusterUID, candidates)
	var expired []Listed
	for _, l := range all {
		if slices.Contains(ids, l.ID) {
			expired = append(expired, l)
		}
	}
	return expired
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
