package supportbundle

import (
	"context"
	"errors"
	"net"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// classify describes an error for the index. Its message is redacted, too: a URL may be in it, or
// the message of a webhook or a kubelet.
func (r *run) classify(err error) *cliv1alpha1.BundleError {
	known, ok := errors.AsType[*supportbundle.Failure](err)
	if !ok {
		known = supportbundle.Fail(reasonOf(err), "%s", r.line(err.Error()))
	}
	out := known.BundleError
	out.Message = r.line(out.Message)
	return &out
}

func reasonOf(err error) string {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return supportbundle.ReasonForbidden
	case apierrors.IsNotFound(err):
		return supportbundle.ReasonNotFound
	case errors.Is(err, context.DeadlineExceeded):
		return supportbundle.ReasonTimeout
	case errors.Is(err, context.Canceled):
		return supportbundle.ReasonInterrupted
	case unreachable(err):
		return supportbundle.ReasonAPIUnreachable
	}
	return supportbundle.ReasonReadFailed
}

// unreachable is true if there was no answer of an API server, or none that it can give now.
func unreachable(err error) bool {
	if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		_, network := errors.AsType[net.Error](err)
		return network || errors.Is(err, context.DeadlineExceeded)
	}
	return apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsInternalError(err)
}
