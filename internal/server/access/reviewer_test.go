package access_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/refit-dev/refit/internal/server/access"
)

// A kubeconfig that has expired is not a caller without credentials: no other token would help.
func TestRejectedCredentialsOfTheServerAreNotThoseOfTheCaller(t *testing.T) {
	reviews := &access.Reviews{Client: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewUnauthorized("Unauthorized")
		},
	}).Build()}
	_, authenticate := reviews.Authenticate(t.Context(), "t")
	_, self := reviews.Self(t.Context())
	_, allowed := reviews.Allowed(t.Context(), access.User{Name: "jane"}, access.Attributes{Verb: "list", Resource: "nodes"})
	_, selfAllowed := reviews.SelfAllowed(t.Context(), access.Attributes{Verb: "list", Resource: "nodes"})
	for _, err := range []error{authenticate, self, allowed, selfAllowed} {
		if !errors.Is(err, access.ErrOwnCredentials) || errors.Is(err, access.ErrRejected) {
			t.Errorf("got %v", err)
		}
	}
}
