package nodeupgrade

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/trial"
)

const (
	// trialRetryInterval is when an unhealthy node is tried again: it may have been fixed
	// meanwhile.
	trialRetryInterval = 30 * time.Second
	// apiRetryInterval is when a trial is retried that the API server could not run.
	apiRetryInterval = time.Second
)

// trialJob is the trial of one node for one order.
type trialJob struct {
	node      string
	sequence  int64
	operation refitv1alpha1.Operation
}

// trialOf is the trial that an order requests, if it does.
func trialOf(u *refitv1alpha1.NodeUpgrade) (trialJob, bool) {
	t := u.Status.Trial
	if t == nil || t.Sequence != u.Spec.Sequence || t.Phase == refitv1alpha1.TrialPassed {
		return trialJob{}, false
	}
	return trialJob{node: u.Name, sequence: t.Sequence, operation: u.Spec.Operation}, true
}

// runTrial tries a node until it proves healthy, or the operation no longer awaits that.
func (r *Reconciler) runTrial(ctx context.Context, job trialJob) {
	log := ctrllog.FromContext(ctx).WithValues("operation", job.operation.Name, "node", job.node, "sequence", job.sequence)
	for r.awaitsTrial(ctx, job) {
		log.Info("Trying node")
		err := r.Trials.Try(ctx, job.node, job.sequence)
		failure, unhealthy := errors.AsType[*trial.Failure](err)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			log.Info("Trial passed")
			r.patchTrial(ctx, job, refitv1alpha1.TrialPassed, "")
			return
		case errors.Is(err, trial.ErrNoImage):
			r.recordNotTried(ctx, job, "not tried: "+err.Error())
			return
		case unhealthy:
			log.Info("Trial failed, retrying", "reason", failure.Message, "retryAfter", trialRetryInterval)
			r.patchTrial(ctx, job, refitv1alpha1.TrialFailed, refitv1alpha1.Clip(failure.Message, refitv1alpha1.MaxMessage))
			sleep(ctx, trialRetryInterval)
		default:
			log.Error(err, "Cannot run trial, retrying", "retryAfter", apiRetryInterval)
			sleep(ctx, apiRetryInterval)
		}
	}
}

// awaitsTrial reports whether the operation still awaits the trial: an aborted or deleted one does
// not. An unreachable API server proves neither.
func (r *Reconciler) awaitsTrial(ctx context.Context, job trialJob) bool {
	if ctx.Err() != nil {
		return false
	}
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: job.operation.Name}, operation); err != nil {
		return client.IgnoreNotFound(err) != nil
	}
	return operation.UID == job.operation.UID && operation.DeletionTimestamp.IsZero() && !operation.Spec.Aborted && !operation.HasEnded()
}

// recordNotTried lets the operation continue without a trial, and records why in an Event.
func (r *Reconciler) recordNotTried(ctx context.Context, job trialJob, message string) {
	if u := r.patchTrial(ctx, job, refitv1alpha1.TrialPassed, message); u != nil {
		r.Recorder.Eventf(u, nil, corev1.EventTypeWarning, "NotTried", "Try", "%s", message)
	}
}

// patchTrial writes the result of a trial, and returns the object if that changed it.
func (r *Reconciler) patchTrial(ctx context.Context, job trialJob, phase refitv1alpha1.TrialPhase, message string) (written *refitv1alpha1.NodeUpgrade) {
	r.patchStatus(ctx, job.node, func(u *refitv1alpha1.NodeUpgrade) {
		written = nil
		t := u.Status.Trial
		if now, ok := trialOf(u); !ok || now != job || (t.Phase == phase && t.Message == message) {
			return
		}
		if t.Phase != phase {
			t.CompletionTime = r.timestamp()
		}
		t.Phase, t.Message, written = phase, message, u
	})
	return written
}

// removeLeftoverTrials deletes the Pods of trials that no operation awaits.
func (r *Reconciler) removeLeftoverTrials(ctx context.Context) {
	err := r.Trials.DeleteOrphans(ctx, func(ctx context.Context, node string) (bool, error) {
		u := &refitv1alpha1.NodeUpgrade{}
		if err := r.Client.Get(ctx, types.NamespacedName{Name: node}, u); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		job, ok := trialOf(u)
		return ok && r.awaitsTrial(ctx, job), nil
	})
	if err != nil {
		ctrllog.FromContext(ctx).Error(err, "Cannot remove the Pods of former trials")
	}
}
