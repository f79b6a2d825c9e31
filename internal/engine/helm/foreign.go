package helm

import (
	"context"
	"fmt"
	"slices"

	release "helm.sh/helm/v4/pkg/release/v1"
)

// ForeignObject is an object of somebody else.
type ForeignObject struct {
	Ref
	// Release is the namespace and the name of the Helm release that it is marked as a part of,
	// empty if it is of none.
	Release string
}

// Foreign returns those of the objects that exist although no revision of the release has them.
// Helm refuses to take over most of them, and a rollback would delete the others. CRDs and objects
// that are to be kept do not count.
func (c *Client) Foreign(ctx context.Context, refs []Ref) (foreign []ForeignObject, err error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, fmt.Errorf("cannot find objects of others: %w", err)
	}
	history, err := s.history()
	if err != nil {
		return nil, fmt.Errorf("cannot find objects of others: %w", err)
	}
	own, err := s.former(history, &release.Release{Info: &release.Info{}})
	if err != nil {
		return nil, fmt.Errorf("cannot find objects of others: %w", err)
	}
	wanted := refSet(refs)
	for _, ref := range own {
		if err := s.exclude(wanted, ref); err != nil {
			return nil, err
		}
	}
	for ref := range wanted {
		if ref.isCRD() {
			continue
		}
		found, err := s.live(ref)
		if err != nil {
			return nil, err
		}
		if found != nil && !kept(found) {
			foreign = append(foreign, ForeignObject{ref, c.release.otherRelease(found)})
		}
	}
	slices.SortFunc(foreign, func(a, b ForeignObject) int { return compareRefs(a.Ref, b.Ref) })
	return foreign, nil
}
