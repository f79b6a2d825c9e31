package upgradeschedule

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/observe"
)

// Setup makes the controller and adds it to a manager. It adds none if the installed CRDs are
// older: watches of kinds that do not exist would stop all controllers.
func Setup(manager ctrl.Manager, options controller.Options) error {
	served, err := observe.Served(manager.GetRESTMapper(), manager.GetScheme(), &refitv1alpha1.UpgradeSchedule{})
	if err != nil {
		return err
	}
	if !served {
		manager.GetLogger().Info("The cluster has no CRD of schedules, so no upgrade is scheduled; run `refit install`")
		return nil
	}
	r, err := New(manager.GetConfig(), manager.GetClient(), manager.GetCache())
	if err != nil {
		return err
	}
	return r.SetupWithManager(manager, options)
}

// New makes a reconciler. It creates ClusterUpgrades as the ServiceAccount of the scheduler.
func New(config *rest.Config, c client.Client, cache client.Reader) (*Reconciler, error) {
	versions, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: refitv1alpha1.SchedulerUser}
	scheduler, err := client.New(as, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return &Reconciler{
		Cache: cache, Client: c, Scheduler: scheduler, Now: time.Now,
		Version: func(context.Context) (string, error) {
			info, err := versions.ServerVersion()
			if err != nil {
				return "", err
			}
			return info.GitVersion, nil
		},
	}, nil
}

// SetupWithManager adds the controller to a manager. It reconciles an UpgradeSchedule when it
// changes, and all of them when the versions that nodes run or the ClusterReleases change, or an
// operation ends.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	options.MaxConcurrentReconciles = 1 // two schedules must not choose the same slot
	all := handler.EnqueueRequestsFromMapFunc(r.all)
	return ctrl.NewControllerManagedBy(manager).
		For(&refitv1alpha1.UpgradeSchedule{}).
		Watches(&refitv1alpha1.UpgradeSchedule{}, all, builder.WithPredicates(deleted())). // its slot is free
		Watches(&refitv1alpha1.ClusterRelease{}, all).
		Watches(&refitv1alpha1.ClusterUpgrade{}, all, builder.WithPredicates(hasEnded())).
		Watches(&refitv1alpha1.NodeReport{}, all, builder.WithPredicates(predicate.Funcs{UpdateFunc: versionReported})).
		Watches(&corev1.Node{}, all, builder.WithPredicates(predicate.Funcs{UpdateFunc: versionChanged})).
		WithOptions(options).
		Complete(r)
}

func deleted() predicate.Predicate {
	never := func(event.CreateEvent) bool { return false }
	return predicate.Funcs{CreateFunc: never, UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// hasEnded selects the updates with which operations end: the versions are different then.
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

// versionReported reports whether the version of an API server changed.
func versionReported(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*refitv1alpha1.NodeReport)
	now, also := e.ObjectNew.(*refitv1alpha1.NodeReport)
	if !is || !also || was.Status.APIServer == nil || now.Status.APIServer == nil {
		return is && also && was.Status.APIServer != now.Status.APIServer
	}
	return was.Status.APIServer.Version != now.Status.APIServer.Version
}

// versionChanged reports whether the version of a kubelet changed.
func versionChanged(e event.UpdateEvent) bool {
	was, is := e.ObjectOld.(*corev1.Node)
	now, also := e.ObjectNew.(*corev1.Node)
	return is && also && was.Status.NodeInfo.KubeletVersion != now.Status.NodeInfo.KubeletVersion
}

// all are all schedules.
func (r *Reconciler) all(ctx context.Context, _ client.Object) []ctrl.Request {
	var list refitv1alpha1.UpgradeScheduleList
	if err := r.Cache.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrllog.FromContext(ctx).Error(err, "Cannot list UpgradeSchedules in the cache")
		return nil
	}
	out := make([]ctrl.Request, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, ctrl.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
	}
	return out
}
