package connect

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// down are the errors of a connection to a host that is down, or whose API server restarts.
var down = []error{
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT,
	io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded,
}

// Unreachable is true if the same request may succeed later, as after the restart of an API server.
// It is false for a wrong address, certificate or credential.
func Unreachable(err error) bool {
	if _, late := errors.AsType[exit.TimeoutError](err); late {
		return true
	}
	if failed, ok := errors.AsType[net.Error](err); ok && failed.Timeout() {
		return true
	}
	return slices.ContainsFunc(down, func(e error) bool { return errors.Is(err, e) }) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err)
}
