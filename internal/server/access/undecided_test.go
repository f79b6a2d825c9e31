package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/refit-dev/refit/internal/server/access"
)

// reviewsWith are reviews of an API server that answers each TokenReview with an error.
func reviewsWith(t *testing.T, message string) *access.Reviews {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := authenticationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &access.Reviews{Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			o.(*authenticationv1.TokenReview).Status.Error = message
			return nil
		},
	}).Build()}
}

func TestAnAPIServerWithoutTheKeysOfTheIssuerDoesNotReject(t *testing.T) {
	for message, want := range map[string]error{
		"[invalid bearer token, oidc: authenticator not initialized]":                                               access.ErrUndecided,
		"oidc: verify token: failed to verify signature: fetching keys oidc: get keys failed Get: connect: refused": access.ErrUndecided,
		"[invalid bearer token, oidc: verify token: oidc: token is expired]":                                        access.ErrRejected,
		"": access.ErrRejected,
	} {
		if _, err := reviewsWith(t, message).Authenticate(t.Context(), "t"); !errors.Is(err, want) {
			t.Errorf("%q: %v", message, err)
		}
	}
}

// starting rejects no token and accepts none, as an API server that has just started.
type starting struct{ access.Reviewer }

func (starting) Authenticate(context.Context, string) (access.User, error) {
	return access.User{}, access.ErrUndecided
}

// The upgrade of a control plane node restarts its API server: nobody may be signed out by that.
func TestASessionOutlastsTheRestartOfTheAPIServer(t *testing.T) {
	b := newBed()
	reviewer := &switched{b.cluster}
	b.Gate = access.NewGate(reviewer, func() time.Time { return b.now }, func(error) bool { return false })
	i, secret := issuingOn(t, b)
	p, err := i.Session(t.Context(), secret)
	if err != nil || i.Allow(t.Context(), p, list) != nil {
		t.Fatal(err)
	}
	reviewer.Reviewer = starting{i.cluster}
	for range 20 { // beyond the expiry of the token, which is renewed
		i.pass(time.Minute)
		if p, err = i.Session(t.Context(), secret); err != nil || p.User.Name != "kim" || i.Allow(t.Context(), p, list) != nil {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if _, err := i.Token(t.Context(), "another", free); !errors.Is(err, access.ErrUndecided) {
		t.Errorf("a caller without a session: %v", err)
	}
	reviewer.Reviewer, i.cluster.groups = i.cluster, []string{"later"}
	i.pass(time.Minute)
	if p, err = i.Session(t.Context(), secret); err != nil || len(p.User.Groups) != 1 {
		t.Errorf("once it decides: %+v, %v", p, err)
	}
}

// switched is a Reviewer that is exchanged.
type switched struct{ access.Reviewer }
