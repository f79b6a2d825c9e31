package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// GetConfig returns the form of a ClusterRelease and its answers, without passwords.
func (s *Server) GetConfig(ctx context.Context, r api.GetConfigRequestObject) (api.GetConfigResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	f, err := s.openForm(ctx, r.Params.Release)
	if err != nil {
		return nil, err
	}
	if f.form == nil {
		return api.GetConfig200JSONResponse{Body: f.document(), Headers: api.GetConfig200ResponseHeaders{ETag: noAnswers}}, nil
	}
	stored, err := f.answers(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.config(ctx, f, stored)
	return api.GetConfig200JSONResponse{Body: out, Headers: api.GetConfig200ResponseHeaders{ETag: stored.etag()}}, err
}

// RenderConfig evaluates answers, and saves nothing.
func (s *Server) RenderConfig(ctx context.Context, r api.RenderConfigRequestObject) (api.RenderConfigResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	f, err := s.openForm(ctx, r.Params.Release)
	if err != nil {
		return nil, err
	}
	if f.form == nil {
		return nil, noForm(f.name)
	}
	stored, err := f.answers(ctx)
	if err != nil {
		return nil, err
	}
	result, err := s.evaluate(ctx, f, stored.Complete(f.form, form.Integers(r.Body.Answers)))
	if err != nil {
		return nil, err
	}
	return api.RenderConfig200JSONResponse(rendered(f, result)), nil
}

// PutConfig saves answers with the credentials of the caller: first all values in one Secret, and
// then that each Component refers to it. If the second fails, the first stays, and the request can
// be repeated.
func (s *Server) PutConfig(ctx context.Context, r api.PutConfigRequestObject) (api.PutConfigResponseObject, error) {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	f, err := s.openForm(ctx, r.Params.Release)
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	c.object, c.detail = f.name, f.digest
	if f.form == nil {
		return nil, noForm(f.name)
	}
	stored, err := f.answers(ctx)
	if err != nil {
		return nil, err
	}
	current := matches(r.Params.IfMatch, stored.etag())
	result, err := s.evaluate(ctx, f, stored.Complete(f.form, form.Integers(r.Body.Answers)))
	if err != nil {
		return nil, err
	}
	switch {
	case len(result.Problems) > 0 && !current:
		return nil, answersChanged()
	case len(result.Problems) > 0:
		refused := problem.New(http.StatusUnprocessableEntity, problem.Invalid, "The form cannot be saved with these answers.")
		refused.Errors = fieldErrors(result)
		return nil, refused
	}
	wanted, err := f.encode(stored, result)
	if err != nil {
		return nil, err
	}
	if !current && !stored.has(wanted) { // otherwise a save that was interrupted is repeated
		return nil, answersChanged()
	}
	if stored, err = f.save(ctx, stored, wanted); err != nil {
		return nil, err
	}
	if err := f.refer(ctx); err != nil {
		return nil, err
	}
	out, err := s.config(ctx, f, stored)
	return api.PutConfig200JSONResponse{Body: out, Headers: api.PutConfig200ResponseHeaders{ETag: stored.etag()}}, err
}

// evaluate evaluates the form with answers. Few evaluations run at the same time: their conditions
// are the publisher's.
func (s *Server) evaluate(ctx context.Context, f *openedForm, answers form.Answers) (*form.Result, error) {
	select {
	case s.forms.evaluating <- struct{}{}:
		defer func() { <-s.forms.evaluating }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return form.Evaluate(ctx, f.form, answers, f.compiled.Evaluation())
}

// config returns a form with its stored answers.
func (s *Server) config(ctx context.Context, f *openedForm, stored *storedAnswers) (api.Config, error) {
	out := f.document()
	answers, passwords := stored.For(f.form)
	out.Answers, out.Passwords, out.SavedFor = api.Answers(answers), passwords, stored.Release
	result, err := s.evaluate(ctx, f, stored.Complete(f.form, answers))
	if err != nil {
		return out, err
	}
	out.Rendered = rendered(f, result)
	out.Pending, err = f.pending(ctx, stored)
	return out, err
}

func (f *openedForm) document() api.Config {
	out := api.Config{Release: f.name, Digest: f.digest, KeyID: f.keyID, Trust: api.ConfigTrust(f.trust)}
	if f.form != nil {
		out.Form = *f.form
	}
	return out
}

func rendered(f *openedForm, result *form.Result) api.RenderedConfig {
	out := api.RenderedConfig{
		Groups: append([]string{}, result.Groups...), Items: append([]string{}, result.Items...), Errors: fieldErrors(result),
		Values: map[string]api.Answers{},
	}
	for component, values := range form.Values(f.form, form.Public(f.form, result.Answers)) {
		out.Values[component] = values
	}
	return out
}

// fieldErrors are the problems of answers, without their text: it may be a password.
func fieldErrors(result *form.Result) []api.FieldError {
	out := []api.FieldError{}
	for _, p := range result.Problems {
		name := strings.NewReplacer("~", "~0", "/", "~1").Replace(p.Item)
		out = append(out, api.FieldError{Pointer: "#/answers/" + name, Detail: p.Detail})
	}
	return out
}

func noForm(release string) error {
	return problem.Newf(http.StatusNotFound, problem.NotFound, "ClusterRelease %s has no form.", release)
}

func answersChanged() error {
	return problem.New(http.StatusPreconditionFailed, problem.PreconditionFailed, "Somebody else has saved the form after it was read.").
		With("Read the form again, and repeat the change")
}
