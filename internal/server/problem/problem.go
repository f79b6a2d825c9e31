// Package problem writes errors as RFC 9457 defines them: with a code that does not change, the
// cause in a sentence, and what the client can do.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/refit-dev/refit/internal/server/api"
)

// The codes of problems.
const (
	APIUnreachable       = "api-unreachable"
	BadRequest           = "bad-request"
	BadSignature         = "bad-signature"
	Blocked              = "blocked"
	BundleFailed         = "bundle-failed"
	CheckFailed          = "check-failed"
	CheckTimeout         = "check-timeout"
	Conflict             = "conflict"
	CrossOrigin          = "cross-origin"
	Ended                = "ended"
	Forbidden            = "forbidden"
	Internal             = "internal"
	Invalid              = "invalid"
	IssuerFailed         = "issuer-failed"
	KeyReused            = "key-reused"
	MisdirectedHost      = "misdirected-host"
	NoControllers        = "no-controllers"
	NoSpace              = "no-space"
	NotFound             = "not-found"
	NotInstalled         = "not-installed"
	OperationActive      = "operation-active"
	PlanChanged          = "plan-changed"
	PreconditionFailed   = "precondition-failed"
	PreconditionRequired = "precondition-required"
	RateLimited          = "rate-limited"
	SignInExpired        = "sign-in-expired"
	SignInRejected       = "sign-in-rejected"
	TooLarge             = "too-large"
	TooManyBundles       = "too-many-bundles"
	TooManyChecks        = "too-many-checks"
	TooManyStreams       = "too-many-streams"
	Unauthenticated      = "unauthenticated"
	UnsupportedMedia     = "unsupported-media-type"
	UpToDate             = "up-to-date"
)

// Error is an error that is answered with a problem.
type Error struct {
	api.Problem
	RetryAfter time.Duration // 0: the answer does not name one
}

// New returns a problem. The detail is the cause in a sentence.
func New(status int, code, detail string) *Error {
	return &Error{Problem: api.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}}
}

// Newf formats the detail.
func Newf(status int, code, format string, args ...any) *Error {
	return New(status, code, fmt.Sprintf(format, args...))
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Detail }

// With sets what the client can do.
func (e *Error) With(remedy string) *Error {
	e.Remedy = remedy
	return e
}

// After sets when the request may succeed.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// At names an invalid field of the request.
func (e *Error) At(pointer, detail string) *Error {
	e.Errors = append(e.Errors, api.FieldError{Pointer: pointer, Detail: detail})
	return e
}

// Of returns the problem of an error. One that is not a problem is a fault of the server: the
// client does not see it.
func Of(err error) *Error {
	if is, ok := errors.AsType[*Error](err); ok {
		return is
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return New(http.StatusRequestEntityTooLarge, TooLarge, "The body of the request is too large.")
	}
	return New(http.StatusInternalServerError, Internal, "The server failed to answer.").With("Check the log of the server for the request id.")
}

// requestID is the key of the id of a request in its context.
type requestID struct{}

// WithRequestID returns a context with the id of a request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestID{}, id)
}

// RequestID returns the id of a request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestID{}).(string)
	return id
}

// Write answers a request with the problem of an error.
func Write(w http.ResponseWriter, r *http.Request, err error) {
	p := *Of(err)
	p.RequestID = RequestID(r.Context())
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds()))))
	}
	if p.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p.Problem) // the client is gone
}
