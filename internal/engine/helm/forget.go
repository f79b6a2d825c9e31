package helm

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
func (c *Client) Existing(ctx context.Context, refs []Ref) ([]Ref, error) {
	return c.which(ctx, refs, func(s *session, live *unstructured.Unstructured) bool { return s.owns(live) && !kept(live) })
}

// Terminating returns those of the objects that are being deleted.
func (c *Client) Terminating(ctx context.Context, refs []Ref) ([]Ref, error) {
	return c.which(ctx, refs, func(_ *session, live *unstructured.Unstructured) bool { return live.GetDeletionTimestamp() != nil })
}

// Taken returns those of the objects that belong to another release.
func (c *Client) Taken(ctx context.Context, refs []Ref) ([]Ref, error) {
	return c.which(ctx, refs, func(s *session, live *unstructured.Unstructured) bool { return s.foreign(live) && !kept(live) })
}

func (c *Client) which(ctx context.Context, refs []Ref, matches func(*session, *unstructured.Unstructured) bool) (out []Ref, err error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		found, err := s.live(ref)
		if err != nil {
			return nil, err
		}
		if found != nil && matches(s, found) {
			out = append(out, ref)
		}
	}
	slices.SortFunc(out, compareRefs)
	return out, nil
}
