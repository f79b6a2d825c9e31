package server

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// openedForm is the form of a ClusterRelease, and how its caller reads and writes the answers.
type openedForm struct {
	name, digest, keyID, trust string

	form     *refitv1alpha1.ComponentForm // nil if there is none
	compiled *check.Form
	client   client.Client // with the credentials of the caller
}

// openForm reads the form of a ClusterRelease with the credentials of the caller, and verifies its
// signature if the caller may read the keys that the hosts accept.
func (s *Server) openForm(ctx context.Context, name string) (*openedForm, error) {
	if request.ValidateName(name) != nil { // a client of Kubernetes would fail
		return nil, problem.New(http.StatusNotFound, problem.NotFound, "There is no ClusterRelease of that name.")
	}
	c := callerOf(ctx)
	own, err := s.callers.of(c.Principal)
	if err != nil {
		return nil, err
	}
	release, err := own.Release(ctx, name)
	if err != nil {
		return nil, err
	}
	signed, components, trust, err := s.openRelease(ctx, c.Principal, &release.Spec)
	if err != nil {
		return nil, err
	}
	out := &openedForm{name: name, digest: signed.Digest, keyID: signed.KeyID, trust: trust, form: components.Form, client: own.Client}
	if out.form != nil {
		if out.compiled, err = s.forms.compile(components.Digest, out.form); err != nil {
			return nil, problem.Newf(http.StatusUnprocessableEntity, problem.Invalid, "The form of ClusterRelease %s cannot be used: %s.", name, err).
				With("Request a corrected ClusterRelease from its publisher")
		}
	}
	return out, nil
}

const (
	maxCompiled   = 8
	maxEvaluating = 2
)

// forms are the conditions of the forms that were used last, by the digest of their components.
type forms struct {
	mu         sync.Mutex
	compiled   map[string]*check.Form
	evaluating chan struct{} // an element for each evaluation in progress
}

func newForms() *forms {
	return &forms{compiled: map[string]*check.Form{}, evaluating: make(chan struct{}, maxEvaluating)}
}

// compile compiles one form at a time, which takes up to a tenth of a second.
func (f *forms) compile(digest string, form *refitv1alpha1.ComponentForm) (*check.Form, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.compiled[digest]; known != nil {
		return known, nil
	}
	compiled, err := check.CompileForm(form)
	if err != nil {
		return nil, fmt.Errorf("cannot compile its conditions: %w", err)
	}
	if len(f.compiled) >= maxCompiled {
		clear(f.compiled)
	}
	f.compiled[digest] = compiled
	return compiled, nil
}
