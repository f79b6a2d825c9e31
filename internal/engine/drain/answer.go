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

// kind is what the API answered to the question whether a pod may go.
type kind int

const (
	agreed    kind = iota
	gone           // the pod is no more
	replaced       // another pod has its name
	budgeted       // a budget refuses
	crossed        // two budgets cover it, and the API evicts no such pod
	ending         // its namespace is being deleted, and the pod with it
	forbidden      // we lack the right
	refused        // somebody else refuses, such as a webhook
	busy           // the API has too much to do
	failing        // the API failed
	silent         // no answer
)

// answer is what the API said.
type answer struct {
	kind   kind
	budget string        // name of the one that refuses
	said   string        // by the budget, or else by the API
	after  time.Duration // how long the API asks to wait
	err    error
}

const (
	// crossing is in the message of the API if two budgets cover a pod; there is no other sign.
	crossing = "more than one PodDisruptionBudget"
	// budgetIntro is how the API begins to speak of a budget.
	budgetIntro = "The disruption budget "
)

// read says what an answer means.
func read(err error) answer {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return answer{kind: agreed}
	case !errors.As(err, &status):
		return answer{kind: silent, err: err}
	}
	a := answer{err: err, said: oneLine(status.Status().Message)}
	if seconds, asks := apierrors.SuggestsClientDelay(err); asks {
		a.after = time.Duration(seconds) * time.Second
	}
	code := status.Status().Code
	switch {
	case apierrors.IsNotFound(err):
		a.kind = gone
	case apierrors.IsConflict(err):
		a.kind = replaced
	case readBudget(err, status, &a):
		a.kind = budgeted
	case code == http.StatusInternalServerError && strings.Contains(a.said, crossing):
		a.kind = crossed
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		a.kind = ending
	case code == http.StatusForbidden && !byAdmission(a.said):
		a.kind = forbidden
	case code == http.StatusTooManyRequests && a.after > 0: // without a time it comes from a webhook, and speaks of this pod
		a.kind = busy
	case code >= http.StatusInternalServerError:
		a.kind = failing
	default:
		a.kind = refused
	}
	return a
}

// readBudget finds the budget that refuses, and what it says.
func readBudget(err error, status apierrors.APIStatus, a *answer) bool {
	if cause, has := apierrors.StatusCause(err, policyv1.DisruptionBudgetCause); has {
		rest, ours := strings.CutPrefix(oneLine(cause.Message), budgetIntro)
		name, said, more := strings.Cut(rest, " ")
		if !ours || !more || name == "" {
			return false
		}
		a.budget, a.said = name, strings.TrimSuffix(strings.TrimSuffix(said, "."), " currently")
		return true
	}
	// Before 1.37, a budget whose status is broken refuses without that cause, as if a right were missing.
	details := status.Status().Details
	if apierrors.IsForbidden(err) && details != nil && details.Kind == "poddisruptionbudget" && details.Name != "" {
		_, said, _ := strings.Cut(a.said, "is forbidden: ")
		a.budget, a.said = details.Name, "allows none: "+said
		return true
	}
	return false
}

// byAdmission tells the refusal of a webhook or a policy from that of a missing right; both may have the same code.
func byAdmission(said string) bool {
	return strings.HasPrefix(said, "admission webhook ") || strings.Contains(said, "ValidatingAdmissionPolicy ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
