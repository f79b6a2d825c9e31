package operations

import (
	"context"
	"fmt"
	"path"

	authorizationv1 "k8s.io/api/authorization/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// allowed reports whether the user may do this to a resource of Refit.
func (c *Cluster) allowed(ctx context.Context, verb, resource, subresource string) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: refitv1alpha1.GroupVersion.Group, Resource: resource, Subresource: subresource, Verb: verb,
		},
	}}
	if err := c.Client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("cannot determine whether you may %s %s: %w", verb, path.Join(resource, subresource), err)
	}
	return review.Status.Allowed, nil
}
