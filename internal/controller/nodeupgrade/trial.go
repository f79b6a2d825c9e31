package nodeupgrade

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/trial"
)

const (
	// trialRetryInterval is when a node that was not well is tried again: whoever mended it need tell nobody.
	trialRetryInterval = 30 * time.Second
	// apiRetryInterval is when the API is asked again that could not be.
	apiRetryInterval = time.Second
)

// trialJob is which node is tried, and what for.
type trialJob struct {
	node      string
	sequence  int64
	operation refitv1alpha1.Operation
}

// trialOf is the trial that an order asks for, if it does.
func trialOf(u *refitv1alpha1.NodeUpgrade) (trialJob, bool) {
	t := u.Status.Trial
	if t == nil || t.Sequence != u.Spec.Sequence || t.Phase == refitv1alpha1.TrialPassed {
		return trialJob{}, false
	}
	return trialJob{node: u.Name, sequence: t.Sequence, operation: u.Spec.Operation}, true
}

// runTrial tries a node until it is well there, or nobody waits for that any more.
func (r *Reconciler) runTrial(ctx context.Context, wanted trialJob) {
	for r.trialAwaited(ctx, wanted) {
		err := r.Trials.Try(ctx, wanted.node, wanted.sequence)
		failure, unwell := errors.AsType[*trial.Failure](err)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			r.patchTrial(ctx, wanted, refitv1alpha1.TrialPassed, "")
			return
		case errors.Is(err, trial.ErrNoImage):
			message := "not tried: " + err.Error()
			if u := r.patchTrial(ctx, wanted, refitv1alpha1.TrialPassed, message); u != nil {
				r.Recorder.Eventf(u, nil, corev1.EventTypeWarning, "NotTried", "Try", "%s", message)
			}
			return
		case unwell:
			r.patchTrial(ctx, wanted, refitv1alpha1.TrialFailed, refitv1alpha1.Clip(failure.Message, refitv1alpha1.MaxMessage))
			sleep(ctx, trialRetryInterval)
		default:
			ctrllog.FromContext(ctx).Info("the node cannot be tried now", "node", wanted.node, "error", err.Error())
			sleep(ctx, apiRetryInterval)
		}
	}
}

// trialAwaited says whether the operation still waits for the trial: one that was aborted or deleted does not. An API that does not answer is no reason to end.
func (r *Reconciler) trialAwaited(ctx context.Context, wanted trialJob) bool {
	if ctx.Err() != nil {
		return false
	}
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: wanted.operation.Name}, operation); err != nil {
		return client.IgnoreNotFound(err) != nil
	}
	return operation.UID == wanted.operation.UID && operation.DeletionTimestamp.IsZero() && !operation.Spec.Aborted && !operation.HasEnded()
}

// patchTrial writes down what was found, and returns the object if that is news.
func (r *Reconciler) patchTrial(ctx context.Context, wanted trialJob, phase refitv1alpha1.TrialPhase, message string) (written *refitv1alpha1.NodeUpgrade) {
	r.patchStatus(ctx, wanted.node, func(u *refitv1alpha1.NodeUpgrade) {
		written = nil
		t := u.Status.Trial
		if now, ok := trialOf(u); !ok || now != wanted || (t.Phase == phase && t.Message == message) {
			return
		}
		if t.Phase != phase {
			at := metav1.NewTime(r.Now().UTC().Truncate(time.Second))
			t.CompletionTime = &at
		}
		t.Phase, t.Message, written = phase, message, u
	})
	return written
}

// removeLeftoverTrials removes the Pods of trials that nobody waits for.
func (r *Reconciler) removeLeftoverTrials(ctx context.Context) {
	err := r.Trials.RemoveLeft(ctx, func(ctx context.Context, node string) (bool, error) {
		u := &refitv1alpha1.NodeUpgrade{}
		if err := r.Client.Get(ctx, types.NamespacedName{Name: node}, u); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		wanted, ok := trialOf(u)
		return ok && r.trialAwaited(ctx, wanted), nil
	})
	if err != nil {
		ctrllog.FromContext(ctx).Info("Pods of former trials may be left", "error", err.Error())
	}
}
