package helm

import (
	"context"
	"fmt"
	"slices"
)

// Forget deletes the record of a release whose objects the marked action has deleted. It succeeds
// if there is no record.
func (c *Client) Forget(ctx context.Context, mark Mark) error {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return c.failed("forget", err)
	}
	history, err := s.history()
	if err != nil || len(history) == 0 {
		return err
	}
	last := history[len(history)-1]
	if last.Info.Description != mark.String() {
		return c.failed("forget", &NotInstalledError{Revision: last.Version, Description: last.Info.Description})
	}
	for _, r := range history { // the newest one last: it proves that the objects are deleted
		if _, err := s.store.Delete(s.Name, r.Version); err != nil {
			return c.failed("forget", fmt.Errorf("cannot delete revision %d: %w", r.Version, err))
		}
	}
	return nil
}

// Existing returns those of the objects that exist and belong to the release, except for those that
// are to be kept.
func (c *Client) Existing(ctx context.Context, refs []Ref) (existing []Ref, err error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		found, err := s.live(ref)
		if err != nil {
			return nil, err
		}
		if found != nil && s.owns(found) && !kept(found) {
			existing = append(existing, ref)
		}
	}
	slices.SortFunc(existing, compareRefs)
	return existing, nil
}
