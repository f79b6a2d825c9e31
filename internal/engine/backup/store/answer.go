package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// statusClass returns the class of an HTTP status.
func statusClass(status int) error {
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		return backup.ErrNotFound
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return backup.ErrDenied
	case status == http.StatusInsufficientStorage:
		return backup.ErrFull
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return backup.ErrUnreachable
	}
	return nil
}

var codePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]{0,63}$`)

// answered describes the error of a server: only its code and status, because its message may
// repeat what was sent.
func answered(code string, status int) error {
	if !codePattern.MatchString(code) {
		code = "an error"
	}
	return fmt.Errorf("the server returned %s (status %d)", code, status)
}

// transferFailure returns the error of a request without an answer. It omits the URL and its query.
func transferFailure(ctx context.Context, verb, key string, err error) error {
	if ours, ok := errors.AsType[sourceError](err); ok {
		return ours.err
	}
	if ctx.Err() != nil {
		return failure(verb, key, nil, context.Cause(ctx))
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return failure(verb, key, backup.ErrUnreachable, err)
}

// download is the body of an answer. Its errors have a class.
type download struct {
	io.ReadCloser
	ctx context.Context
	key string
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // an error that wraps io.EOF is no end
		err = transferFailure(d.ctx, "read", d.key, err)
	}
	return n, err
}
