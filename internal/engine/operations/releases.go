package operations

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Release returns a ClusterRelease.
func (c *Cluster) Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error) {
	out := &refitv1alpha1.ClusterRelease{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, out); err != nil {
		return nil, fmt.Errorf("cannot read ClusterRelease %s: %w", name, err)
	}
	return out, nil
}

// Releases returns all ClusterReleases.
func (c *Cluster) Releases(ctx context.Context) ([]refitv1alpha1.ClusterRelease, error) {
	var out refitv1alpha1.ClusterReleaseList
	if err := c.Client.List(ctx, &out); err != nil {
		return nil, c.unreadable("ClusterReleases", err)
	}
	return out.Items, nil
}

// MayCreateRelease returns an error if the user may not create ClusterReleases.
func (c *Cluster) MayCreateRelease(ctx context.Context) error {
	allowed, err := c.allowed(ctx, "create", "clusterreleases", "")
	if err == nil && !allowed {
		err = errors.New("you may not create clusterreleases. Ask an administrator for a ClusterRole with this permission, or to add the ClusterRelease")
	}
	return err
}

// CreateRelease creates a ClusterRelease.
func (c *Cluster) CreateRelease(ctx context.Context, release *refitv1alpha1.ClusterRelease) error {
	return c.Client.Create(ctx, release)
}

// Objects returns a client for other objects, such as the charts of a ClusterRelease.
func (c *Cluster) Objects() client.Client { return c.Client }
