package clusterupgrade

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/internal/engine/observe"
)

// watched is what the World needs from informers.
var watched = []client.Object{
	&corev1.Node{}, &refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}, &refitv1alpha1.ClusterRelease{},
}

// backups is what the World needs besides, unless the installed CRDs are older.
var backups = []client.Object{&refitv1alpha1.EtcdBackup{}, &refitv1alpha1.BackupStore{}}

// components is what the World needs of components, unless the installed CRDs are older.
var components = []client.Object{&refitv1alpha1.Component{}, &refitv1alpha1.ComponentUpgrade{}}

// windows is what the World needs of windows, unless the installed CRDs are older.
var windows = []client.Object{&refitv1alpha1.MaintenanceWindow{}}

// Setup makes the controller and adds it to a manager.
func Setup(manager ctrl.Manager, options controller.Options) error {
	typed, err := kubernetes.NewForConfigAndClient(manager.GetConfig(), manager.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	reader, err := observe.New(manager.GetConfig(), observe.Options{})
	if err != nil {
		return err
	}
	kinds := slices.Clone(watched)
	served, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), backups...)
	if err != nil {
		return err
	}
	if served {
		kinds = append(kinds, backups...)
	}
	withComponents, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), components...)
	if err != nil {
		return err
	}
	if withComponents {
		kinds = append(kinds, components...)
	}
	withWindows, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), windows...)
	if err != nil {
		return err
	}
	if withWindows {
		kinds = append(kinds, windows...)
	}
	stores, err := observe.Watch(context.Background(), manager.GetCache(), kinds...)
	if err != nil {
		return err
	}
	r := &Reconciler{
		Cache: manager.GetCache(), Client: manager.GetClient(), Recorder: manager.GetEventRecorder("refit"), Now: time.Now,
		World: observe.NewWorld(reader, stores), Components: withComponents, Windows: withWindows,
		PodsToEvict: drain.New(typed, slog.New(logr.ToSlogHandler(manager.GetLogger()))).Remaining,
	}
	return r.setupWithManager(manager, options, served)
}

// maxRetryInterval is the longest interval at which a reconcile that fails is retried.
const maxRetryInterval = 15 * time.Second

// setupWithManager adds the controller to a manager. Every watched object may let an unfinished
// operation advance, so each change enqueues all of them: they are few, and the queue deduplicates.
func (r *Reconciler) setupWithManager(manager ctrl.Manager, options controller.Options, withBackups bool) error {
	options.MaxConcurrentReconciles = 1 // one decision at a time
	// The backoff stays short: what fails must reach the status, and continue when it is fixed.
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](100*time.Millisecond, maxRetryInterval)
	enqueueAll := handler.EnqueueRequestsFromMapFunc(r.operationsToAdvance)
	b := ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.ClusterUpgrade{}).
		Watches(&refitv1alpha1.ClusterUpgrade{}, enqueueAll, builder.WithPredicates(hasEnded())). // the next one may start
		Watches(&corev1.Node{}, enqueueAll, builder.WithPredicates(predicate.Funcs{UpdateFunc: nodeChanged})).
		Watches(&refitv1alpha1.NodeUpgrade{}, enqueueAll).
		Watches(&refitv1alpha1.NodeReport{}, enqueueAll).
		Watches(&refitv1alpha1.ClusterRelease{}, enqueueAll)
	if withBackups {
		b = b.Watches(&refitv1alpha1.EtcdBackup{}, enqueueAll).Watches(&refitv1alpha1.BackupStore{}, enqueueAll)
	}
	if r.Windows {
		b = b.Watches(&refitv1alpha1.MaintenanceWindow{}, enqueueAll)
	}
	if r.Components {
		b = b.Watches(&refitv1alpha1.Component{}, enqueueAll).Watches(&refitv1alpha1.ComponentUpgrade{}, enqueueAll)
	}
	return b.WithOptions(options).Complete(r)
}

// hasEnded selects the updates with which operations end.
func hasEnded() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*refitv1alpha1.ClusterUpgrade)
			now, also := e.ObjectNew.(*refitv1alpha1.ClusterUpgrade)
			return is && also && now.HasEnded() && !was.HasEnded()
		},
	}
}

// nodeChanged reports whether a Node changed in a field that observe.Trim keeps. 5,000 kubelets
// update their Nodes every few minutes without such a change.
func nodeChanged(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*corev1.Node)
	now, also := e.ObjectNew.(*corev1.Node)
	return !is || !also || was.UID != now.UID || !equality.Semantic.DeepEqual(was.Labels, now.Labels) ||
		!equality.Semantic.DeepEqual(was.Annotations, now.Annotations) || !equality.Semantic.DeepEqual(was.Spec, now.Spec) ||
		!equality.Semantic.DeepEqual(was.Status, now.Status)
}

// operationsToAdvance are the operations that may have to advance when an object changes: all
// unfinished ones, and an ended one that the object mentions.
func (r *Reconciler) operationsToAdvance(ctx context.Context, object client.Object) []ctrl.Request {
	var all refitv1alpha1.ClusterUpgradeList
	if err := r.Cache.List(ctx, &all); err != nil {
		ctrllog.FromContext(ctx).Error(err, "Cannot list ClusterUpgrades in the cache")
		return nil
	}
	var out []ctrl.Request
	for i := range all.Items {
		if o := &all.Items[i]; !o.HasEnded() || !o.DeletionTimestamp.IsZero() || mentions(object, o.UID) {
			out = append(out, ctrl.Request{NamespacedName: types.NamespacedName{Name: o.Name}})
		}
	}
	return out
}
