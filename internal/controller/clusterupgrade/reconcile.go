package clusterupgrade

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// Reconciler advances operations, the oldest first.
type Reconciler struct {
	// Cache reads from informers. Client reads from the API server, and writes.
	Cache  client.Reader
	Client client.Client
	World  *observe.World
	// PodsToEvict lists the pods on a node that a drain would evict, as the API server has them.
	PodsToEvict func(ctx context.Context, node string) ([]string, error)
	Recorder    events.EventRecorder
	Now         func() time.Time
	// Components is set if the cluster serves Components and ComponentUpgrades.
	Components bool
	// Windows is set if the cluster serves MaintenanceWindows.
	Windows bool

	epochs   raisedEpochs
	failures actionFailures
}

// requeueInterval is when an operation is reconciled without an event: what it waits for may be a
// time, or something that no informer watches.
const requeueInterval = 10 * time.Second

// Reconcile advances one operation as far as it goes now.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	operation := &refitv1alpha1.ClusterUpgrade{}
	if err := r.Client.Get(ctx, request.NamespacedName, operation); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if isFinalized(operation) {
		return ctrl.Result{}, nil
	}
	advance := r.advance
	if operation.HasEnded() {
		advance = r.tidy
	}
	after, err := advance(ctx, operation)
	if apierrors.IsConflict(err) { // the decision was made on an old version of an object
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	}
	return ctrl.Result{RequeueAfter: after}, err
}

// advance makes one decision and executes it. It returns when to reconcile again.
func (r *Reconciler) advance(ctx context.Context, operation *refitv1alpha1.ClusterUpgrade) (time.Duration, error) {
	if err := r.ensureFinalizer(ctx, operation); err != nil {
		return 0, err
	}
	if err := r.ensureEpoch(ctx, operation); err != nil {
		return 0, err
	}
	obs, err := r.assess(ctx, operation)
	if err != nil {
		return 0, err
	}
	obs.Decision.ReportFailed(r.failures.of(operation.UID, obs.Decision.Actions), r.Now())
	// First, since it selects nodes: if it conflicts, all actions were decided on an old view.
	if err := r.writeStatus(ctx, obs); err != nil {
		return 0, err
	}
	if err := r.execute(ctx, obs); err != nil {
		return 0, err
	}
	return requeueAfter(&obs.Decision, waitingSince(operation), r.Now()), nil
}

// maxRequeueInterval limits how long an operation that waits for manual intervention is not read.
const maxRequeueInterval = 5 * time.Minute

// requeueAfter is how long nothing is known to change without an event. While an operation requires
// manual intervention, that grows with the time that it has waited: a change of the operation or of
// a node is an event, and the rest is noticed a tenth of that time later.
func requeueAfter(d *plan.Decision, since, now time.Time) time.Duration {
	next := requeueInterval
	if waitsForUser[d.State] && !since.IsZero() {
		next = min(max(next, now.Sub(since)/10), maxRequeueInterval)
	}
	for _, w := range d.Waiting {
		if left := w.Until.Sub(now); !w.Until.IsZero() && left < next {
			next = max(left, 100*time.Millisecond)
		}
	}
	return next
}

// waitsForUser are the states that end only by manual intervention or by another operation.
var waitsForUser = map[plan.State]bool{plan.AwaitingApproval: true, plan.Queued: true, plan.Paused: true, plan.Stalled: true}

// waitingSince is since when the operation may have been waiting, zero while a node is active.
func waitingSince(operation *refitv1alpha1.ClusterUpgrade) time.Time {
	reconciling := meta.FindStatusCondition(operation.Status.Conditions, refitv1alpha1.ConditionReconciling)
	if reconciling == nil || len(operation.Status.Active) > 0 {
		return time.Time{}
	}
	return reconciling.LastTransitionTime.Time
}
