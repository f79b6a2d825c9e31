package access

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// User is a user of the cluster.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// Attributes are what a caller wants to do in the cluster.
type Attributes struct{ Verb, Group, Resource, Name, Namespace string }

// String is the permission as an error names it.
func (a Attributes) String() string {
	resource := a.Resource
	if a.Group != "" {
		resource += "." + a.Group
	}
	if a.Name != "" {
		resource += " " + a.Namespace + "/" + a.Name
	}
	return a.Verb + " " + resource
}

// ErrRejected is a token that the API server rejects.
var ErrRejected = errors.New("the API server rejects the token")

// ErrOwnCredentials is an API server that rejects the credentials of the server itself.
var ErrOwnCredentials = errors.New("the API server rejects the credentials of the server")

// Reviewer queries the API server about users and their permissions.
type Reviewer interface {
	// Authenticate returns the user of a token. It returns ErrRejected if there is none.
	Authenticate(ctx context.Context, token string) (User, error)
	// Self returns the user whose credentials the server has.
	Self(ctx context.Context) (User, error)
	// Allowed reports whether a user has a permission.
	Allowed(ctx context.Context, user User, a Attributes) (bool, error)
	// SelfAllowed reports whether the user whose credentials the server has has a permission.
	SelfAllowed(ctx context.Context, a Attributes) (bool, error)
}

// Reviews is the Reviewer of an API server.
type Reviews struct{ Client client.Client }

// Authenticate implements Reviewer.
func (r *Reviews) Authenticate(ctx context.Context, token string) (User, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := r.create(ctx, review); err != nil {
		return User{}, fmt.Errorf("cannot review the token: %w", err)
	}
	switch {
	case review.Status.Authenticated:
	case isUndecided(review.Status.Error):
		return User{}, fmt.Errorf("%w: %s", ErrUndecided, review.Status.Error)
	default:
		return User{}, ErrRejected
	}
	return userOf(&review.Status.User), nil
}

// Self implements Reviewer.
func (r *Reviews) Self(ctx context.Context) (User, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := r.create(ctx, review); err != nil {
		return User{}, fmt.Errorf("cannot determine the user of the kubeconfig: %w", err)
	}
	return userOf(&review.Status.UserInfo), nil
}

// Allowed implements Reviewer.
func (r *Reviews) Allowed(ctx context.Context, user User, a Attributes) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Name, UID: user.UID, Groups: user.Groups,
		ResourceAttributes: a.resource(),
	}}
	if user.Extra != nil {
		review.Spec.Extra = map[string]authorizationv1.ExtraValue{}
		for key, values := range user.Extra {
			review.Spec.Extra[key] = values
		}
	}
	if err := r.create(ctx, review); err != nil {
		return false, fmt.Errorf("cannot determine whether %s may %s: %w", user.Name, a, err)
	}
	return review.Status.Allowed && !review.Status.Denied, nil
}

// SelfAllowed implements Reviewer. It needs no permission, other than Allowed.
func (r *Reviews) SelfAllowed(ctx context.Context, a Attributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: a.resource()}}
	if err := r.create(ctx, review); err != nil {
		return false, fmt.Errorf("cannot determine whether the kubeconfig may %s: %w", a, err)
	}
	return review.Status.Allowed && !review.Status.Denied, nil
}

// create requests a review with the credentials of the server: a caller whom the API server does
// not know is in the status of the review.
func (r *Reviews) create(ctx context.Context, review client.Object) error {
	err := r.Client.Create(ctx, review)
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("%w: %w", ErrOwnCredentials, err)
	}
	return err
}

func (a Attributes) resource() *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Name: a.Name, Namespace: a.Namespace}
}

func userOf(info *authenticationv1.UserInfo) User {
	out := User{Name: info.Username, UID: info.UID, Groups: info.Groups}
	for key, values := range info.Extra {
		if out.Extra == nil {
			out.Extra = map[string][]string{}
		}
		out.Extra[key] = values
	}
	return out
}
