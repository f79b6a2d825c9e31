package trial

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Failure is a problem that a trial found. Every other error of a trial, such as an unreachable
// API, means nothing about the node.
type Failure struct{ Message string }

func (f *Failure) Error() string { return f.Message }

func failed(message string) *Failure { return &Failure{strings.Join(strings.Fields(message), " ")} }

// verdict returns a Failure for an error that does not go away by itself: a missing permission or
// namespace, a policy that denies the Pod, or a webhook that fails closed and is unreachable,
// because its own Pods may wait for this very node.
func verdict(err error) error {
	webhook := apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
	if webhook || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return failed(err.Error())
	}
	return err
}
