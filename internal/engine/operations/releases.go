package operations

import (
	"context"
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

// CreateRelease creates a ClusterRelease.
func (c *Cluster) CreateRelease(ctx context.Context, release *refitv1alpha1.ClusterRelease) error {
	return c.Client.Create(ctx, release)
}
