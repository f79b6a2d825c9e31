package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func manual(reason string, err error, remedy, format string, args ...any) error {
	return node.ManualIntervention(reason, err, remedy, format, args...)
}

const retry = "Fix the cause, then run `refit retry`"

// FailureOf returns the failure of an error, with its class, reason and remedy.
func FailureOf(err error) component.Failure {
	failed := func(reason, remedy string) component.Failure {
		return component.Failure{
			Class: refitv1alpha1.FailureManualIntervention, Reason: reason, Remedy: remedy,
			Message: refitv1alpha1.Clip(node.Redact(err.Error()), refitv1alpha1.MaxMessage),
		}
	}
	if f, ok := errors.AsType[*node.Failure](err); ok {
		f = f.Persistent()
		return component.Failure{Class: f.Class, Reason: f.Reason, Message: f.Message, Remedy: f.Remedy}
	}
	if b, ok := errors.AsType[*blockedError](err); ok {
		return component.Failure{
			Class: refitv1alpha1.FailureManualIntervention, Reason: b.problem.Reason, Message: b.problem.Message, Remedy: b.problem.Remedy,
		}
	}
	if u, ok := errors.AsType[*unpermittedError](err); ok {
		f := u.failure
		f.Class = refitv1alpha1.FailureManualIntervention // it has waited
		if f.Reason == "OperationPaused" || f.Reason == "OperationNotApproved" {
			f.Remedy += "; then run `refit retry`"
		}
		return f
	}
	if _, ok := errors.AsType[*helm.PendingError](err); ok {
		return failed("ComponentPending", "Wait until the other Helm action ends, or run `helm rollback`; then run `refit retry`")
	}
	if _, ok := errors.AsType[*helm.DeletionError](err); ok {
		return failed("DeletionNotApproved", "Run `refit plan` again and approve it")
	}
	if unready, ok := errors.AsType[*object.NotReadyError](err); ok {
		if unready.Pod != "" { // which a rollback deletes
			return failed("ObjectNotReady", "Fix what the message reports of the Pod, then run `refit retry`")
		}
		return failed("ObjectNotReady",
			"Find out why it did not become ready (`kubectl get events -A --sort-by=.lastTimestamp`), fix the cause, then run `refit retry`")
	}
	if _, ok := errors.AsType[*otherImageError](err); ok {
		return failed("OtherImage", "Find out what created the Pod, then run `refit retry`")
	}
	if conflict := fieldConflict(err); conflict != nil {
		return failed("FieldConflict", conflictRemedy(err.Error(), conflict))
	}
	if _, ok := errors.AsType[*crd.ChangedError](err); ok {
		return failed("CRDChanged", "Find out who changed the CRD; then run `refit plan` again")
	}
	switch {
	case errors.Is(err, helm.ErrNoRelease):
		return failed("HelmReleaseMissing", "Somebody deleted the Helm release during the upgrade, and nothing can restore it. "+
			"Delete the ComponentUpgrade of the component, then review the new plan and approve it")
	case errors.Is(err, helm.ErrRecordTooLarge):
		return failed("HelmRecordTooLarge", "Reduce the values, or ask the publisher for a smaller chart")
	case errors.Is(err, crd.ErrSavedTooLarge):
		return failed("SavedContentTooLarge", "Ask the publisher for a component with fewer CRDs")
	case errors.Is(err, context.DeadlineExceeded):
		return failed("StepTimeout", retry)
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
		return failed("WebhookUnavailable", "Fix the webhook that the message names, whose backend may be down, or delete its configuration "+
			"(`kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`); then run `refit retry`")
	case Transient(err):
		return failed("APIUnavailable", "Wait until the API server is available, then run `refit retry`")
	}
	return failed("StepFailed",
		"Check the log of refit-components (`kubectl -n refit-components logs deploy/refit-components`); fix the cause, then run `refit retry`")
}

// fieldConflict returns the first field that another field manager has set to another value, nil if
// the error has another cause. Nothing but a change of the object or of the values resolves it.
func fieldConflict(err error) *metav1.StatusCause {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsConflict(status) || status.ErrStatus.Details == nil {
		return nil
	}
	causes := status.ErrStatus.Details.Causes
	at := slices.IndexFunc(causes, func(c metav1.StatusCause) bool { return c.Type == metav1.CauseTypeFieldManagerConflict })
	if at < 0 {
		return nil
	}
	return &causes[at]
}

var (
	// applied is how Helm names the object of a conflict.
	applied = regexp.MustCompile(`applying object (\S*)/(\S+) \S+ Kind=(\w+):`)
	manager = regexp.MustCompile(`^conflict with "([^"]+)"`)
)

// conflictRemedy names the object, the field and its manager, which owns the field also if it never
// writes it again: only equal values do not conflict. The text of the error decides what is shown:
// values of Secrets are hidden in it.
func conflictRemedy(text string, conflict *metav1.StatusCause) string {
	object, field, by := "the object that the message names", "the field", "the other field manager"
	if found := applied.FindStringSubmatch(text); found != nil {
		object = found[3] + " " + strings.TrimPrefix(found[1]+"/"+found[2], "/")
	}
	if conflict.Field != "" && strings.Contains(text, conflict.Field) {
		field = conflict.Field
	}
	if found := manager.FindStringSubmatch(conflict.Message); len(found) > 1 && strings.Contains(text, found[1]) {
		by = found[1]
	}
	return fmt.Sprintf("Give %s of %s the value of the chart, and stop %s from changing it; or set the value that it has in spec.values of the Component. "+
		"Then run `refit retry`", field, object, by)
}

// Transient reports whether an error may resolve itself, so that the step is repeated.
func Transient(err error) bool {
	if fieldConflict(err) != nil {
		return false
	}
	if _, ok := errors.AsType[*helm.PendingError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsConflict(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
		utilnet.IsProbableEOF(err)
}
