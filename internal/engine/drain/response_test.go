package drain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	pods    = schema.GroupResource{Resource: "pods"}
	budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}
)

// withCause adds a cause to an error of the API.
func withCause(err *apierrors.StatusError, cause metav1.CauseType, message string) error {
	if err.ErrStatus.Details == nil {
		err.ErrStatus.Details = &metav1.StatusDetails{}
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause, Message: message})
	return err
}

func budgetError(message string) error {
	return withCause(apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0), policyv1.DisruptionBudgetCause, message)
}

func statusError(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

var overlapError = statusError(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")

func TestClassify(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want response
	}{
		"accepted":                       {nil, response{kind: accepted}},
		"connection refused":             {&url.Error{Op: "Post", Err: errors.New("connection refused")}, response{kind: unreachable}},
		"timeout":                        {fmt.Errorf("x: %w", context.DeadlineExceeded), response{kind: unreachable}},
		"no such pod":                    {apierrors.NewNotFound(pods, "cart-1"), response{kind: notFound, message: `pods "cart-1" not found`}},
		"another pod":                    {apierrors.NewConflict(pods, "cart-1", errors.New("x")), response{kind: replaced, message: `Operation cannot be fulfilled on pods "cart-1": x`}},
		"a budget is exhausted":          {budgetError("The disruption budget cart needs 3 healthy pods and has 3 currently"), response{kind: refusedByBudget, budget: "cart", message: "needs 3 healthy pods and has 3"}},
		"a budget that cannot count":     {budgetError("The disruption budget cart does not allow evicting pods currently because it failed sync: found\nno controllers"), response{kind: refusedByBudget, budget: "cart", message: "does not allow evicting pods currently because it failed sync: found no controllers"}},
		"a budget without a reason":      {budgetError("The disruption budget a.b-c does not allow evicting pods currently"), response{kind: refusedByBudget, budget: "a.b-c", message: "does not allow evicting pods"}},
		"a budget that is new":           {withCause(apierrors.NewTooManyRequests("x", 10), policyv1.DisruptionBudgetCause, "The disruption budget cart is still being processed by the server."), response{kind: refusedByBudget, budget: "cart", message: "is still being processed by the server", after: 10 * time.Second}},
		"an unknown message of a budget": {budgetError("No."), response{kind: denied, message: "Cannot evict pod as it would violate the pod's disruption budget."}},
		"a broken budget, until v36":     {apierrors.NewForbidden(budgets, "cart", errors.New("pdb disruptions allowed is negative")), response{kind: refusedByBudget, budget: "cart", message: "allows no disruption: pdb disruptions allowed is negative"}},
		"a broken budget, from v37":      {withCause(apierrors.NewForbidden(budgets, "cart", errors.New("x")), policyv1.DisruptionBudgetCause, "The disruption budget cart does not allow evicting pods currently: pdb disruptions allowed is negative"), response{kind: refusedByBudget, budget: "cart", message: "does not allow evicting pods currently: pdb disruptions allowed is negative"}},
		"two budgets":                    {overlapError, response{kind: overlapping, message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}},
		"a terminating namespace":        {withCause(apierrors.NewForbidden(pods, "cart-1", errors.New("x")), corev1.NamespaceTerminatingCause, "x"), response{kind: namespaceTerminating, message: `pods "cart-1" is forbidden: x`}},
		"no permission":                  {apierrors.NewForbidden(pods, "cart-1", errors.New(`User "x" cannot create resource "pods/eviction"`)), response{kind: forbidden, message: `pods "cart-1" is forbidden: User "x" cannot create resource "pods/eviction"`}},
		"a webhook denies":               {statusError(403, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: a VM runs here`), response{kind: denied, message: `admission webhook "w" denied the request: a VM runs here`}},
		"a policy denies":                {statusError(403, metav1.StatusReasonForbidden, `pods "cart-1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), response{kind: denied, message: `pods "cart-1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`}},
		"a webhook denies for now":       {statusError(429, metav1.StatusReasonTooManyRequests, `admission webhook "w" denied the request: migrating`), response{kind: denied, message: `admission webhook "w" denied the request: migrating`}},
		"too many requests":              {apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "post", pods, "cart-1", "Too many requests", 7, true), response{kind: throttled, message: "the server has received too many requests and has asked us to try again later (post pods cart-1)", after: 7 * time.Second}},
		"a contended budget":             {apierrors.NewTimeoutError("couldn't update PodDisruptionBudget", 10), response{kind: serverError, message: "Timeout: couldn't update PodDisruptionBudget", after: 10 * time.Second}},
		"an unreachable webhook":         {apierrors.NewInternalError(errors.New("failed calling webhook")), response{kind: serverError, message: "Internal error occurred: failed calling webhook"}},
		"unauthorized":                   {apierrors.NewUnauthorized("Unauthorized"), response{kind: denied, message: "Unauthorized"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := classify(c.err)
			if !errors.Is(got.err, c.err) {
				t.Errorf("the error is %v", got.err)
			}
			got.err = nil
			if got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
