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

// because adds a cause to an answer of the API.
func because(err *apierrors.StatusError, cause metav1.CauseType, message string) error {
	if err.ErrStatus.Details == nil {
		err.ErrStatus.Details = &metav1.StatusDetails{}
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause, Message: message})
	return err
}

func byBudget(message string) error {
	return because(apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0), policyv1.DisruptionBudgetCause, message)
}

func status(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

var crossedAnswer = status(500, "", "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")

func TestWhatTheAPIMeans(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want answer
	}{
		"yes":                        {nil, answer{kind: agreed}},
		"nobody there":               {&url.Error{Op: "Post", Err: errors.New("connection refused")}, answer{kind: silent}},
		"it takes too long":          {fmt.Errorf("x: %w", context.DeadlineExceeded), answer{kind: silent}},
		"no such pod":                {apierrors.NewNotFound(pods, "cart-1"), answer{kind: gone, said: `pods "cart-1" not found`}},
		"another pod":                {apierrors.NewConflict(pods, "cart-1", errors.New("x")), answer{kind: replaced, said: `Operation cannot be fulfilled on pods "cart-1": x`}},
		"a budget is exhausted":      {byBudget("The disruption budget cart needs 3 healthy pods and has 3 currently"), answer{kind: budgeted, budget: "cart", said: "needs 3 healthy pods and has 3"}},
		"a budget cannot count":      {byBudget("The disruption budget cart does not allow evicting pods currently because it failed sync: found\nno controllers"), answer{kind: budgeted, budget: "cart", said: "does not allow evicting pods currently because it failed sync: found no controllers"}},
		"a budget without a reason":  {byBudget("The disruption budget a.b-c does not allow evicting pods currently"), answer{kind: budgeted, budget: "a.b-c", said: "does not allow evicting pods"}},
		"a budget that is new":       {because(apierrors.NewTooManyRequests("x", 10), policyv1.DisruptionBudgetCause, "The disruption budget cart is still being processed by the server."), answer{kind: budgeted, budget: "cart", said: "is still being processed by the server", after: 10 * time.Second}},
		"a budget in other words":    {byBudget("No."), answer{kind: refused, said: "Cannot evict pod as it would violate the pod's disruption budget."}},
		"a broken budget, until v36": {apierrors.NewForbidden(budgets, "cart", errors.New("pdb disruptions allowed is negative")), answer{kind: budgeted, budget: "cart", said: "allows none: pdb disruptions allowed is negative"}},
		"a broken budget, from v37":  {because(apierrors.NewForbidden(budgets, "cart", errors.New("x")), policyv1.DisruptionBudgetCause, "The disruption budget cart does not allow evicting pods currently: pdb disruptions allowed is negative"), answer{kind: budgeted, budget: "cart", said: "does not allow evicting pods currently: pdb disruptions allowed is negative"}},
		"two budgets":                {crossedAnswer, answer{kind: crossed, said: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}},
		"a namespace that ends":      {because(apierrors.NewForbidden(pods, "cart-1", errors.New("x")), corev1.NamespaceTerminatingCause, "x"), answer{kind: ending, said: `pods "cart-1" is forbidden: x`}},
		"no right":                   {apierrors.NewForbidden(pods, "cart-1", errors.New(`User "x" cannot create resource "pods/eviction"`)), answer{kind: forbidden, said: `pods "cart-1" is forbidden: User "x" cannot create resource "pods/eviction"`}},
		"a webhook says no":          {status(403, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: a VM runs here`), answer{kind: refused, said: `admission webhook "w" denied the request: a VM runs here`}},
		"a policy says no":           {status(403, metav1.StatusReasonForbidden, `pods "cart-1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), answer{kind: refused, said: `pods "cart-1" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`}},
		"a webhook says not yet":     {status(429, metav1.StatusReasonTooManyRequests, `admission webhook "w" denied the request: migrating`), answer{kind: refused, said: `admission webhook "w" denied the request: migrating`}},
		"too many requests":          {apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "post", pods, "cart-1", "Too many requests", 7, true), answer{kind: busy, said: "the server has received too many requests and has asked us to try again later (post pods cart-1)", after: 7 * time.Second}},
		"a budget in demand":         {apierrors.NewTimeoutError("couldn't update PodDisruptionBudget", 10), answer{kind: failing, said: "Timeout: couldn't update PodDisruptionBudget", after: 10 * time.Second}},
		"a webhook is away":          {apierrors.NewInternalError(errors.New("failed calling webhook")), answer{kind: failing, said: "Internal error occurred: failed calling webhook"}},
		"who are you":                {apierrors.NewUnauthorized("Unauthorized"), answer{kind: refused, said: "Unauthorized"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(c.err)
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
