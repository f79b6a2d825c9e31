package nodeupgrade

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// drainRetryInterval is when a drain that lacked a permission is retried.
const drainRetryInterval = 30 * time.Second

// drainJob is the drain of one node for one order.
type drainJob struct {
	node      string
	nodeUID   types.UID
	sequence  int64
	operation string
	delete    bool
}

// drainOf is the drain that an order requests, if it does.
func drainOf(u *refitv1alpha1.NodeUpgrade) (drainJob, bool) {
	d := u.Status.Drain
	if d == nil || d.Sequence != u.Spec.Sequence || (d.Phase != refitv1alpha1.DrainDraining && d.Phase != refitv1alpha1.DrainBlocked) {
		return drainJob{}, false
	}
	return drainJob{node: u.Name, nodeUID: u.Spec.NodeUID, sequence: d.Sequence, operation: u.Spec.Operation.Name, delete: d.Delete}, true
}

// runDrain drains a node until no pod is left that has to move, or the context ends. A drain that
// lacks a permission is retried: the permission may be granted meanwhile.
func (r *Reconciler) runDrain(ctx context.Context, job drainJob) {
	log := ctrllog.FromContext(ctx).WithValues("operation", job.operation, "node", job.node, "sequence", job.sequence)
	log.Info("Draining node", "delete", job.delete)
	for {
		err := r.drainOnce(ctx, job)
		switch {
		case ctx.Err() != nil:
			log.Info("Drain canceled")
			return
		case err == nil:
			log.Info("Drained node")
			r.recordDrained(ctx, job)
			return
		}
		log.Error(err, "Cannot drain node, retrying", "retryAfter", drainRetryInterval)
		r.patchDrain(ctx, job, func(d *refitv1alpha1.DrainStatus) {
			d.Phase = refitv1alpha1.DrainBlocked
			d.Blockers = []refitv1alpha1.Blocker{{Pod: "*", Reason: refitv1alpha1.Clip(err.Error(), refitv1alpha1.MaxBlockerReason)}}
		})
		sleep(ctx, drainRetryInterval)
	}
}

// drainOnce drains a node and reports the progress meanwhile.
func (r *Reconciler) drainOnce(ctx context.Context, job drainJob) error {
	reporter := r.startReporter(ctx, job)
	defer reporter.stop()
	refused := int64(0)
	order := drain.Order{Node: job.node, Delete: job.delete, Waived: r.waived(ctx, job), DataWaived: r.dataWaived(ctx, job)}
	return r.Drainer.Drain(ctx, order, func(p drain.Progress) {
		r.CountRefusedEvictions(p.Refused - refused)
		refused = p.Refused
		reporter.put(p)
	})
}

// waived returns whether a user has waived the loss of a pod that no controller recreates. It reads
// the operation each time, so that a waiver takes effect during the drain that it unblocks. While
// it cannot be read, the last answer counts.
func (r *Reconciler) waived(ctx context.Context, job drainJob) func(namespace, name string) bool {
	last := &refitv1alpha1.ClusterUpgrade{}
	return func(namespace, name string) bool {
		operation := &refitv1alpha1.ClusterUpgrade{}
		switch err := r.Cache.Get(ctx, types.NamespacedName{Name: job.operation}, operation); {
		case err == nil:
			last = operation
		case apierrors.IsNotFound(err):
			last = &refitv1alpha1.ClusterUpgrade{}
		}
		return policy.MayDelete(&last.Spec, namespace, name)
	}
}

// dataWaived returns whether a user has waived the loss of data in emptyDir volumes, in the same
// way.
func (r *Reconciler) dataWaived(ctx context.Context, job drainJob) func(owner string) bool {
	return func(owner string) bool {
		operation := &refitv1alpha1.ClusterUpgrade{}
		err := r.Cache.Get(ctx, types.NamespacedName{Name: job.operation}, operation)
		return err == nil && policy.MayLoseData(&operation.Spec, owner)
	}
}

// recordDrained writes that a node is drained, and records an Event if it was this drain that did
// it.
func (r *Reconciler) recordDrained(ctx context.Context, job drainJob) {
	written := false
	r.patchDrain(ctx, job, func(d *refitv1alpha1.DrainStatus) {
		d.Phase, d.CompletionTime, d.Remaining, d.Blockers, written = refitv1alpha1.DrainDrained, r.timestamp(), 0, nil, true
	})
	if !written {
		return
	}
	about := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: job.node, UID: job.nodeUID}}
	r.Recorder.Eventf(about, nil, corev1.EventTypeNormal, "Drained", "Drain", "No pod is left that has to move")
}

// patchDrain changes the drain's status, unless another drain has replaced this one.
func (r *Reconciler) patchDrain(ctx context.Context, job drainJob, change func(*refitv1alpha1.DrainStatus)) {
	r.patchStatus(ctx, job.node, func(u *refitv1alpha1.NodeUpgrade) {
		if now, ok := drainOf(u); ok && now == job {
			change(u.Status.Drain)
		}
	})
}
