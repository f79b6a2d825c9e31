package drain

import (
	"errors"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// kind is how the API responds to a request to evict a pod.
type kind int

const (
	accepted             kind = iota
	notFound                  // the pod does not exist any more
	replaced                  // another pod has its name
	refusedByBudget           // a budget refuses
	overlapping               // two budgets select the pod, which the eviction API does not support
	namespaceTerminating      // the namespace is being deleted, and the pod with it
	forbidden                 // a permission is missing
	denied                    // something else refuses, such as a webhook
	throttled                 // the API is overloaded
	serverError               // the API failed
	unreachable               // no response
)

// response is the response of the API to a request.
type response struct {
	kind    kind
	budget  string        // the name of the one that refuses
	message string        // of the budget, or else of the API
	after   time.Duration // the Retry-After of the API
	err     error
}

const (
	// overlapMessage is in the error of the API if two budgets select a pod; nothing else marks it.
	overlapMessage = "more than one PodDisruptionBudget"
	// budgetPrefix starts the message about a budget.
	budgetPrefix = "The disruption budget "
)

// classify returns the response that an error stands for.
func classify(err error) response {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return response{kind: accepted}
	case !errors.As(err, &status):
		return response{kind: unreachable, err: err}
	}
	r := response{err: err, message: oneLine(status.Status().Message)}
	if seconds, suggested := apierrors.SuggestsClientDelay(err); suggested {
		r.after = time.Duration(seconds) * time.Second
	}
	code := status.Status().Code
	switch {
	case apierrors.IsNotFound(err):
		r.kind = notFound
	case apierrors.IsConflict(err):
		r.kind = replaced
	case classifyBudget(err, status, &r):
		r.kind = refusedByBudget
	case code == http.StatusInternalServerError && strings.Contains(r.message, overlapMessage):
		r.kind = overlapping
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		r.kind = namespaceTerminating
	case code == http.StatusForbidden && !deniedByAdmission(r.message):
		r.kind = forbidden
	case code == http.StatusTooManyRequests && r.after > 0: // else it comes from a webhook
		r.kind = throttled
	case code >= http.StatusInternalServerError:
		r.kind = serverError
	default:
		r.kind = denied
	}
	return r
}

// classifyBudget finds the budget that refuses, and its message.
func classifyBudget(err error, status apierrors.APIStatus, r *response) bool {
	if cause, has := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause); has {
		rest, found := strings.CutPrefix(oneLine(cause.Message), budgetPrefix)
		name, message, more := strings.Cut(rest, " ")
		if !found || !more || name == "" {
			return false
		}
		r.budget, r.message = name, strings.TrimSuffix(strings.TrimSuffix(message, "."), " currently")
		return true
	}
	// Before 1.37, a budget with a broken status refuses without that cause, as if a permission
	// were missing.
	details := status.Status().Details
	if apierrors.IsForbidden(err) && details != nil && details.Kind == "poddisruptionbudget" && details.Name != "" {
		_, message, _ := strings.Cut(r.message, "is forbidden: ")
		r.budget, r.message = details.Name, "allows no disruption: "+message
		return true
	}
	return false
}

// deniedByAdmission distinguishes a webhook or a policy from a missing permission; both can have
// the same code.
func deniedByAdmission(message string) bool {
	return strings.HasPrefix(message, "admission webhook ") || strings.Contains(message, "ValidatingAdmissionPolicy ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
