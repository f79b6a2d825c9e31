package helm

import (
	"context"
	"fmt"

	release "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/types"

	rcommon "helm.sh/helm/v4/pkg/release/common"
)

// An Identity is a live object.
type Identity struct {
	Ref
	UID types.UID
}

// Existed returns those of the objects that exist before an action creates them. Objects that
// an abandoned action of Refit has created do not count, nor do those that are kept anyway.
func (c *Client) Existed(ctx context.Context, refs []Ref) (existed []Identity, err error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, fmt.Errorf("cannot find existing objects: %w", err)
	}
	history, err := s.history()
	if err != nil {
		return nil, fmt.Errorf("cannot find existing objects: %w", err)
	}
	since := &release.Release{}
	if len(history) > 0 && current(history).Info.Status == rcommon.StatusDeployed {
		since = current(history)
	}
	abandoned, err := s.abandoned(history, since)
	if err != nil {
		return nil, fmt.Errorf("cannot find existing objects: %w", err)
	}
	wanted := refSet(refs)
	for _, ref := range abandoned {
		if err := s.exclude(wanted, ref); err != nil {
			return nil, fmt.Errorf("cannot find existing objects: %w", err)
		}
	}
	for _, ref := range refs {
		if !wanted[ref] || ref.isCRD() {
			continue
		}
		live, err := s.live(ref)
		if err != nil {
			return nil, fmt.Errorf("cannot find existing objects: %w", err)
		}
		if live != nil && !kept(live) {
			existed = append(existed, Identity{ref, live.GetUID()})
		}
	}
	return existed, nil
}

// Keep annotates objects so that neither Helm nor a sweep deletes them, and returns those that
// still exist. Others of the same name are not annotated.
func (c *Client) Keep(ctx context.Context, objects []Identity) (stay []Ref, err error) {
	s, err := c.open(ctx, Mark{})
	if err != nil {
		return nil, fmt.Errorf("cannot keep objects: %w", err)
	}
	for _, object := range objects {
		live, err := s.live(object.Ref)
		if err == nil && live != nil && live.GetUID() == object.UID {
			stay = append(stay, object.Ref)
			err = s.annotateKept(object.Ref, live)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot keep objects: %w", err)
		}
	}
	return stay, nil
}
