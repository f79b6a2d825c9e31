package observe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answers returns prepared pages and errors in order, and records the requests.
type answers struct {
	given    []any // *rawPage[string] or error
	requests []string
}

func (a *answers) list(_ context.Context, options metav1.ListOptions) (*rawPage[string], error) {
	a.requests = append(a.requests, options.Continue)
	next := a.given[0]
	a.given = a.given[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return next.(*rawPage[string]), nil
}

func page(next string, items ...string) *rawPage[string] {
	return &rawPage[string]{ListMeta: metav1.ListMeta{Continue: next}, Items: items}
}

// expired is the error of an expired list, with a token to continue.
func expired(offer string) error {
	err := apierrors.NewResourceExpired("the provided continue parameter is too old")
	err.ErrStatus.Continue = offer
	return err
}

func TestPages(t *testing.T) {
	for name, test := range map[string]struct {
		given          []any
		requests, seen []string
		err            string
	}{
		"one page":        {[]any{page("", "a")}, []string{""}, []string{"a"}, ""},
		"an empty list":   {[]any{page("")}, []string{""}, nil, ""},
		"several":         {[]any{page("1", "a"), page("2", "b"), page("", "c")}, []string{"", "1", "2"}, []string{"a", "b", "c"}, ""},
		"expired halfway": {[]any{page("1", "a"), expired("1b"), page("", "b")}, []string{"", "1", "1b"}, []string{"a", "b"}, ""},
		"expired twice, with a page between": {
			[]any{page("1", "a"), expired("1b"), page("2", "b"), expired("2b"), page("", "c")}, []string{"", "1", "1b", "2", "2b"}, []string{"a", "b", "c"}, "",
		},
		"expired again at once":   {[]any{page("1", "a"), expired("1b"), expired("1c")}, []string{"", "1", "1b"}, []string{"a"}, "list things: "},
		"expired without a token": {[]any{page("1", "a"), expired("")}, []string{"", "1"}, []string{"a"}, "list things: "},
		"failed":                  {[]any{errors.New("no")}, []string{""}, nil, "list things: no"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: test.given}
			var seen []string
			err := pages(t.Context(), list("things"), metav1.ListOptions{Limit: 1}, a.list, func(p *rawPage[string]) error {
				seen = append(seen, p.Items...)
				return nil
			})
			if !slices.Equal(a.requests, test.requests) || !slices.Equal(seen, test.seen) {
				t.Errorf("it requested %q and got %q, want %q and %q", a.requests, seen, test.requests, test.seen)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("the error is %v, want %q", err, test.err)
			}
		})
	}
}
