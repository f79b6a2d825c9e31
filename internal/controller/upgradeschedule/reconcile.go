package upgradeschedule

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/schedule"
)

const (
	// requeueInterval is how often a schedule is checked without an event: the clock may jump, and
	// ClusterReleases become old enough.
	requeueInterval = time.Minute
	// retryInterval is how often a start that is due and failed is retried.
	retryInterval = 5 * time.Second
)

// fieldOwner owns the fields that the controller writes.
const fieldOwner = client.FieldOwner("refit-controller")

// Reconciler starts the upgrades of UpgradeSchedules.
type Reconciler struct {
	// Cache has Nodes, NodeReports, ClusterReleases, ClusterUpgrades and UpgradeSchedules.
	Cache client.Reader
	// Client reads from the API itself.
	Client client.Client
	// Scheduler creates ClusterUpgrades, and may do nothing else.
	Scheduler client.Client
	// Version returns the version that the API server reports.
	Version func(context.Context) (string, error)
	Now     func() time.Time

	opened opened
}

// Reconcile observes, decides, acts, and writes the status. The ClusterUpgrade is created before
// the status is written: a controller that is killed in between finds it by its name.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	given := &unstructured.Unstructured{}
	given.SetGroupVersionKind(refitv1alpha1.GroupVersion.WithKind("UpgradeSchedule"))
	if err := r.Client.Get(ctx, request.NamespacedName, given); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	s, err := typed(given)
	if err != nil || !s.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, err
	}
	slot, changed, err := r.slotOf(ctx, s)
	if err != nil || changed {
		return retried(err, time.Second) // the admission policies read the slot with a delay
	}
	obs, err := r.observe(ctx, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	decision := schedule.Next(obs)
	var failure error
	if decision.Start != nil && slot != "" {
		if failure = r.start(ctx, given, slot, &decision); failure == nil {
			decision.Result = refitv1alpha1.StartStarted
		}
	}
	if err := r.writeStatus(ctx, s, obs, &decision, slot, failure); err != nil {
		return retried(err, time.Second)
	}
	return ctrl.Result{RequeueAfter: requeueAfter(&decision, r.Now())}, nil
}

// typed decodes a schedule.
func typed(given *unstructured.Unstructured) (*refitv1alpha1.UpgradeSchedule, error) {
	s := &refitv1alpha1.UpgradeSchedule{}
	if err := fromUnstructured(given, s); err != nil {
		return nil, fmt.Errorf("cannot decode UpgradeSchedule %s: %w", given.GetName(), err)
	}
	return s, nil
}

// retried is the result of an error, if there is one. The change that came first before a conflict
// causes an event.
func retried(err error, after time.Duration) (ctrl.Result, error) {
	if err == nil || apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	return ctrl.Result{}, err
}

// start creates the ClusterUpgrade of a start. If it exists, the start has taken place.
func (r *Reconciler) start(ctx context.Context, given *unstructured.Unstructured, slot string, d *schedule.Decision) error {
	operation := &unstructured.Unstructured{Object: schedule.Operation(given.Object, given.GetName(), slot, d.Start)}
	log := ctrllog.FromContext(ctx).WithValues("clusterUpgrade", operation.GetName(), "release", d.Start.Target.Release)
	err := r.Scheduler.Create(ctx, operation, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		log.Info("The upgrade of the schedule exists")
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot create ClusterUpgrade %s: %w", operation.GetName(), err)
	}
	log.Info("Created the upgrade of the schedule")
	return nil
}

func (r *Reconciler) writeStatus(
	ctx context.Context, s *refitv1alpha1.UpgradeSchedule, obs *schedule.Observation, d *schedule.Decision, slot string, failure error,
) error {
	before := s.Status.DeepCopy()
	schedule.Apply(s, d, &obs.Target, slot, failure, obs.Now)
	if d.Result != "" {
		ctrllog.FromContext(ctx).Info("The start of the schedule has a result", "time", d.Time, "result", d.Result, "message", d.Message)
	}
	if reflect.DeepEqual(*before, s.Status) {
		return nil
	}
	if err := r.Client.Status().Update(ctx, s, fieldOwner); err != nil {
		return fmt.Errorf("cannot write the status of UpgradeSchedule %s: %w", s.Name, err)
	}
	return nil
}

// requeueAfter is when the schedule is checked again.
func requeueAfter(d *schedule.Decision, now time.Time) time.Duration {
	after := requeueInterval
	if !d.Time.IsZero() && d.Result == "" {
		after = retryInterval
	}
	if !d.Next.IsZero() {
		after = min(after, d.Next.Sub(now))
	}
	return max(after, time.Millisecond)
}

// objectKey is the key of a cluster-scoped object.
func objectKey(name string) types.NamespacedName { return types.NamespacedName{Name: name} }
