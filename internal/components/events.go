package components

import (
	"context"
	"maps"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

func setupOffers(manager ctrl.Manager, options ctrlcontroller.Options, o Options) error {
	r := NewReconciler(manager.GetClient(), manager.GetConfig(), o)
	// Nobody waits longer for offers after the cause of an error is fixed.
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minDelay, failedInterval)
	secret := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
	return builder.ControllerManagedBy(manager).Named("component").WithOptions(options).
		For(&refitv1alpha1.Component{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&refitv1alpha1.ClusterRelease{}, handler.EnqueueRequestsFromMapFunc(r.ofRelease),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(secret, handler.EnqueueRequestsFromMapFunc(r.ofSecret)).
		Watches(&refitv1alpha1.ComponentUpgrade{}, handler.EnqueueRequestsFromMapFunc(ofUpgrade)).
		Watches(&refitv1alpha1.ClusterUpgrade{}, handler.EnqueueRequestsFromMapFunc(ofOperation),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return stageChanged(e.ObjectOld, e.ObjectNew) }})).
		Complete(r)
}

// ofUpgrade queues a component whose upgrade has ended or is paused.
func ofUpgrade(_ context.Context, object client.Object) []reconcile.Request {
	u, ok := object.(*refitv1alpha1.ComponentUpgrade)
	if !ok || busy(u) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: u.Name}}}
}

// ofOperation queues the components of a plan.
func ofOperation(_ context.Context, object client.Object) []reconcile.Request {
	names := map[string]bool{}
	if o, ok := object.(*refitv1alpha1.ClusterUpgrade); ok && o.Status.Plan != nil {
		for i := range o.Status.Plan.Components {
			names[o.Status.Plan.Components[i].Name] = true
		}
	}
	return requests(names)
}

// stageChanged reports whether the plan of an operation changed, or one of its stages started or
// ended: the version of Kubernetes may have changed.
func stageChanged(before, after client.Object) bool {
	old, isOld := before.(*refitv1alpha1.ClusterUpgrade)
	updated, isNew := after.(*refitv1alpha1.ClusterUpgrade)
	if !isOld || !isNew {
		return false
	}
	return !apiequality.Semantic.DeepEqual(milestones(old), milestones(updated))
}

// milestones are what of a plan concerns components.
func milestones(o *refitv1alpha1.ClusterUpgrade) (out refitv1alpha1.PlanSummary) {
	if o.Status.Plan == nil {
		return out
	}
	for i := range o.Status.Plan.Stages {
		s := &o.Status.Plan.Stages[i]
		out.Stages = append(out.Stages, refitv1alpha1.StageSummary{Name: s.Name, StartTime: s.StartTime, CompletionTime: s.CompletionTime})
	}
	out.Components = o.Status.Plan.Components
	return out
}

// busy reports whether steps of an upgrade run: what is offered is known after it. One that was
// paused or aborted is not busy, since it may never continue.
func busy(u *refitv1alpha1.ComponentUpgrade) bool {
	if u.Status.Phase != refitv1alpha1.ComponentApplying {
		return u.Status.Phase == refitv1alpha1.ComponentRollingBack
	}
	order := &cluster.ComponentUpgrade{Name: u.Name, Generation: u.Generation, Spec: u.Spec, Status: u.Status}
	if componentplan.Refused(order) { // what was started waits as under Hold
		order.Spec.Permit, order.Spec.Sequence = refitv1alpha1.PermitHold, order.Status.ObservedSequence
	}
	return componentplan.Changing(order)
}

// ofRelease queues all Components, and those of the ClusterRelease, which may not exist yet.
func (r *Reconciler) ofRelease(ctx context.Context, object client.Object) []reconcile.Request {
	names := map[string]bool{}
	if release, ok := object.(*refitv1alpha1.ClusterRelease); ok {
		signed, err := r.source.verify(release)
		if err != nil {
			r.log.WarnContext(ctx, "ClusterRelease refused", "release", release.Name, "error", err)
		}
		for i := range signed.components {
			names[signed.components[i].Name] = true
		}
	}
	var list refitv1alpha1.ComponentList
	if err := r.client.List(ctx, &list); err != nil {
		r.log.WarnContext(ctx, "Cannot list Components", "error", err)
	}
	for i := range list.Items {
		names[list.Items[i].Name] = true
	}
	return requests(names)
}

// ofSecret queues the components of a Helm release whose record has changed, or those whose values
// have.
func (r *Reconciler) ofSecret(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetLabels()[form.OwnerLabel] == form.Owner {
		if object.GetNamespace() != Namespace {
			return nil
		}
		return requests(r.withValuesFrom(ctx, object.GetName()))
	}
	known := r.known.Load()
	if known == nil {
		if _, err := r.releases(ctx); err != nil {
			r.log.WarnContext(ctx, "Cannot list ClusterReleases", "error", err)
			return nil
		}
		known = r.known.Load()
	}
	return requests((*known)[refitv1alpha1.HelmRelease{Namespace: object.GetNamespace(), Name: object.GetLabels()["name"]}])
}

// installedAs are the components of each Helm release, by name. A cluster has many records: reading
// all ClusterReleases for each one would take minutes.
type installedAs map[refitv1alpha1.HelmRelease]map[string]bool

func installedAsOf(all releases) installedAs {
	out := installedAs{}
	for _, release := range all.verified {
		for i := range release.components {
			c := &release.components[i]
			if out[c.Release] == nil {
				out[c.Release] = map[string]bool{}
			}
			out[c.Release][c.Name] = true
		}
	}
	return out
}

func requests(names map[string]bool) (out []reconcile.Request) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return out
}
