package trial

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Failure is what a trial found to be wrong. Any other error of a trial is about the way to it, such as an API that is away, and says nothing of the node.
type Failure struct{ Message string }

func (f *Failure) Error() string { return f.Message }

func failed(message string) *Failure { return &Failure{strings.Join(strings.Fields(message), " ")} }

// verdict makes a Failure of an error that does not go away by itself: a right or a namespace that is missing, a policy that lets no such Pod in, or a webhook
// that fails closed and does not answer, since its own Pods may wait for this very node.
func verdict(err error) error {
	webhook := apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
	if webhook || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return failed(err.Error())
	}
	return err
}
