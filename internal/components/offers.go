package components

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// resyncInterval is how often offers are computed without an event: objects of CRDs and the
	// version of Kubernetes change, too.
	resyncInterval = 10 * time.Minute
	// busyInterval is how often a component that is being upgraded is read.
	busyInterval = 15 * time.Second
	// maxOffers is the limit of the API.
	maxOffers = 8
)

// HelmRecords selects the Secrets in which Helm records releases.
const HelmRecords = "owner=helm"

// Reconciler writes the status of Components: what is installed, and what each ClusterRelease would
// change.
type Reconciler struct {
	client client.Client // from the API server
	config *rest.Config
	source *source
	log    *slog.Logger
	now    func() time.Time
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), refitv1alpha1.AddToScheme(scheme))
}

// NewReconciler returns a Reconciler whose client reads from the API server.
func NewReconciler(c client.Client, config *rest.Config, o Options) *Reconciler {
	return &Reconciler{client: c, config: config, source: &source{reader: c, keys: o.Keys}, log: o.Log, now: time.Now}
}

func setupOffers(manager ctrl.Manager, options ctrlcontroller.Options, o Options) error {
	r := NewReconciler(manager.GetClient(), manager.GetConfig(), o)
	secret := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
	return builder.ControllerManagedBy(manager).Named("component").WithOptions(options).
		For(&refitv1alpha1.Component{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&refitv1alpha1.ClusterRelease{}, handler.EnqueueRequestsFromMapFunc(r.ofRelease),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(secret, handler.EnqueueRequestsFromMapFunc(r.ofRecord)).
		Watches(&refitv1alpha1.ComponentUpgrade{}, handler.EnqueueRequestsFromMapFunc(ofUpgrade)).
		Complete(r)
}

// ofUpgrade queues a component whose upgrade has ended.
func ofUpgrade(_ context.Context, object client.Object) []reconcile.Request {
	u, ok := object.(*refitv1alpha1.ComponentUpgrade)
	if !ok || busy(u) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: u.Name}}}
}

// busy reports whether steps of an upgrade run: what is offered is known after it.
func busy(u *refitv1alpha1.ComponentUpgrade) bool {
	return u.Status.Phase == refitv1alpha1.ComponentApplying || u.Status.Phase == refitv1alpha1.ComponentRollingBack
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

// ofRecord queues the components of a Helm release.
func (r *Reconciler) ofRecord(ctx context.Context, object client.Object) []reconcile.Request {
	names := map[string]bool{}
	releases, err := r.releases(ctx)
	if err != nil {
		r.log.WarnContext(ctx, "Cannot list ClusterReleases", "error", err)
	}
	for _, release := range releases.verified {
		for i := range release.components {
			helm := release.components[i].Release
			if helm.Namespace == object.GetNamespace() && helm.Name == object.GetLabels()["name"] {
				names[release.components[i].Name] = true
			}
		}
	}
	return requests(names)
}

func requests(names map[string]bool) (out []reconcile.Request) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return out
}

// releases are the ClusterReleases of the cluster.
type releases struct {
	verified []verified
	refused  []string // each with the reason
}

// releases reads all ClusterReleases, the oldest Kubernetes version first.
func (r *Reconciler) releases(ctx context.Context) (out releases, err error) {
	var list refitv1alpha1.ClusterReleaseList
	if err := r.client.List(ctx, &list); err != nil {
		return out, fmt.Errorf("cannot list ClusterReleases: %w", err)
	}
	for i := range list.Items {
		signed, err := r.source.verify(&list.Items[i])
		if err != nil {
			out.refused = append(out.refused, fmt.Sprintf("ClusterRelease %s: %s", list.Items[i].Name, node.FailureOf(err).Text()))
			continue
		}
		out.verified = append(out.verified, signed)
	}
	slices.SortStableFunc(out.verified, func(a, b verified) int {
		return cmp.Or(compareVersions(a.kubernetes, b.kubernetes), strings.Compare(a.ref.Name, b.ref.Name))
	})
	return out, nil
}

func compareVersions(a, b string) int {
	x, errX := version.ParseGeneric(a)
	y, errY := version.ParseGeneric(b)
	switch {
	case errX != nil || errY != nil:
		return strings.Compare(a, b)
	case x.LessThan(y):
		return -1
	case y.LessThan(x):
		return 1
	}
	return 0
}

// Reconcile creates a Component that a ClusterRelease has, and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	all, err := r.releases(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	var c refitv1alpha1.Component
	err = r.client.Get(ctx, request.NamespacedName, &c)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.create(ctx, request.Name, all)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("cannot get Component %s: %w", request.Name, err)
	}
	var u refitv1alpha1.ComponentUpgrade
	err = r.client.Get(ctx, request.NamespacedName, &u)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("cannot get ComponentUpgrade %s: %w", request.Name, err)
	}
	if err == nil && busy(&u) {
		return reconcile.Result{RequeueAfter: busyInterval}, nil
	}
	status, complete, err := r.status(ctx, &c, all)
	if err != nil {
		return reconcile.Result{}, err
	}
	after := resyncInterval
	if !complete {
		after = busyInterval
	}
	return reconcile.Result{RequeueAfter: after}, r.write(ctx, &c, status)
}

func (r *Reconciler) create(ctx context.Context, name string, all releases) error {
	for _, release := range all.verified {
		if slices.ContainsFunc(release.components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name }) {
			err := r.client.Create(ctx, &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.FieldOwner(steps.Manager))
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		}
	}
	return nil
}

// write writes a status that differs from the stored one.
func (r *Reconciler) write(ctx context.Context, c *refitv1alpha1.Component, status refitv1alpha1.ComponentStatus) error {
	if apiequality.Semantic.DeepEqual(c.Status, status) {
		return nil
	}
	c.Status = status
	if err := r.client.Status().Update(ctx, c, client.FieldOwner(steps.Manager)); err != nil {
		return fmt.Errorf("cannot write the status of Component %s: %w", c.Name, err)
	}
	return nil
}

// view is what all offers of a component share.
type view struct {
	component *refitv1alpha1.Component
	cluster   offer.Cluster
	current   string // version of Kubernetes
	user      map[string]any
	userError *offer.Problem
	release   offer.Input // of the installed Helm release
	status    refitv1alpha1.ComponentStatus
	// incomplete is set if what is installed of another component is not known yet.
	incomplete bool
}

// status computes the status of a component.
func (r *Reconciler) status(ctx context.Context, c *refitv1alpha1.Component, all releases) (_ refitv1alpha1.ComponentStatus, complete bool, _ error) {
	status := refitv1alpha1.ComponentStatus{ObservedGeneration: c.Generation, Owner: refitv1alpha1.OwnerNone, Conditions: c.Status.Conditions}
	status.Conditions = slices.Clone(status.Conditions)
	v, err := r.view(ctx, c)
	if err != nil {
		return status, false, err
	}
	signed := signedVersions(c.Name, all)
	if len(signed) > 0 {
		if err := r.readInstalled(ctx, v, signed[len(signed)-1], &status); err != nil {
			return status, false, err
		}
	}
	v.status = status
	for _, release := range all.verified {
		if compareVersions(release.kubernetes, v.current) < 0 || len(status.Offers) == maxOffers {
			continue
		}
		found, ok, err := r.offer(ctx, v, release)
		if err != nil {
			return status, false, err
		}
		if ok {
			status.Offers = append(status.Offers, found)
		}
	}
	r.conditions(&status, c, all)
	return status, !v.incomplete, nil
}

// signedVersions returns the versions of a component, that of the newest Kubernetes last.
func signedVersions(name string, all releases) (out []refitv1alpha1.ReleaseComponent) {
	for _, release := range all.verified {
		for i := range release.components {
			if release.components[i].Name == name {
				out = append(out, release.components[i])
			}
		}
	}
	return out
}

func (r *Reconciler) view(ctx context.Context, c *refitv1alpha1.Component) (*view, error) {
	v := &view{component: c}
	discover, err := discoveryOf(r.config)
	if err != nil {
		return nil, err
	}
	if v.current, err = clusterVersion(discover); err != nil {
		return nil, err
	}
	v.current = patchVersion.FindString(v.current)
	judge, err := crd.NewActor(r.config, steps.Manager)
	if err != nil {
		return nil, err
	}
	fresh, err := client.New(r.config, client.Options{}) // CRDs may have changed
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	v.cluster = offer.Cluster{Reader: fresh, CRDs: judge}
	v.user, err = offer.UserValues(ctx, r.client, &c.Spec)
	switch {
	case errors.Is(err, offer.ErrValuesMissing):
		problem := offer.NewProblem("ValuesMissing", "%v", err)
		v.userError = &problem
	case err != nil && !steps.Transient(err):
		problem := offer.NewProblem("ValuesInvalid", "%v", err)
		v.userError = &problem
	case err != nil:
		return nil, err
	}
	return v, nil
}

// readInstalled reads the Helm release of a component.
func (r *Reconciler) readInstalled(ctx context.Context, v *view, signed refitv1alpha1.ReleaseComponent, status *refitv1alpha1.ComponentStatus) error {
	v.release = offer.Input{Component: signed, User: v.user}
	discover, err := discoveryOf(r.config)
	if err != nil {
		return err
	}
	if v.release.Capabilities, err = offer.CapabilitiesOf(discover, v.current); err != nil {
		return err
	}
	if archive, err := r.source.chart(ctx, signed.Chart); err == nil {
		v.release.Archive = archive
	}
	release := helm.New(ctx, r.config, helm.Release(signed.Release), r.log.Handler())
	if err := offer.ReadRelease(ctx, v.cluster.Reader, release, &v.release); err != nil {
		return err
	}
	status.Owner = cmp.Or(v.release.Owner, refitv1alpha1.OwnerNone)
	if d := v.release.Deployed; d != nil {
		status.Installed = &refitv1alpha1.InstalledComponent{
			Version: d.ChartVersion, Namespace: signed.Release.Namespace, Name: signed.Release.Name,
			Revision: int64(d.Revision), Pending: v.release.Pending != "",
		}
	}
	return nil
}

// offer computes what a ClusterRelease would change in a component. It is false if the
// ClusterRelease does not have the component.
func (r *Reconciler) offer(ctx context.Context, v *view, release verified) (refitv1alpha1.ComponentOffer, bool, error) {
	name := v.component.Name
	at := slices.IndexFunc(release.components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name })
	if at < 0 {
		return refitv1alpha1.ComponentOffer{}, false, nil
	}
	observed := v.component.Spec.Manage == refitv1alpha1.ManageObserve
	if observed { // only what does not fit matters
		release.components = slices.Clone(release.components)
		for i := range release.components {
			if release.components[i].Name == name {
				release.components[i].Place = refitv1alpha1.PlaceAuto
			}
		}
	}
	p, err := placeAll(ctx, r.client, v.current, release, &refitv1alpha1.Component{ObjectMeta: v.component.ObjectMeta, Status: v.status})
	if err != nil {
		return refitv1alpha1.ComponentOffer{}, false, err
	}
	v.incomplete = v.incomplete || p.incomplete
	placed, changes := p.of(name)
	out := refitv1alpha1.ComponentOffer{Release: release.ref, Action: refitv1alpha1.ActionNone, Kubernetes: release.kubernetes}
	out.Version = targetOf(release, name).Version
	if noPath := slices.IndexFunc(p.noPath, func(n component.NoPath) bool { return n.Component == name }); noPath >= 0 {
		out.Action = actionOf(v)
		out.Problems = []offer.Problem{offer.NewProblem("ComponentHasNoPath", "%s", p.noPath[noPath].Message)}
		return out, true, nil
	}
	if !changes || observed && !placed.Before {
		return out, true, nil
	}
	return r.compute(ctx, v, p, placed, observed)
}

func actionOf(v *view) refitv1alpha1.ComponentAction {
	if v.release.Deployed == nil {
		return refitv1alpha1.ActionInstall
	}
	return refitv1alpha1.ActionUpgrade
}

// targetOf returns the last version of a component in a ClusterRelease.
func targetOf(release verified, name string) (target refitv1alpha1.ReleaseComponent) {
	for i := range release.components {
		if release.components[i].Name == name {
			target = release.components[i]
		}
	}
	return target
}

// compute computes the changes.
func (r *Reconciler) compute(ctx context.Context, v *view, p placement, placed component.Placed, observed bool) (refitv1alpha1.ComponentOffer, bool, error) {
	at := slices.IndexFunc(p.release.components, func(c refitv1alpha1.ReleaseComponent) bool {
		return c.Name == placed.Component && c.Version == placed.To
	})
	in := v.release
	in.Component, in.Action, in.Spec, in.User = p.release.components[at], placed.Action, v.component.Spec, v.user
	discover, err := discoveryOf(r.config)
	if err != nil {
		return refitv1alpha1.ComponentOffer{}, false, err
	}
	if in.Capabilities, err = offer.CapabilitiesOf(discover, p.kubernetes(placed.Component, placed.To)); err != nil {
		return refitv1alpha1.ComponentOffer{}, false, err
	}
	blocked := func(problem offer.Problem) (refitv1alpha1.ComponentOffer, bool, error) {
		return (&offer.Offer{Problems: []offer.Problem{problem}}).Status(p.release.ref, in), true, nil
	}
	switch {
	case observed:
		return blocked(offer.NewProblem("ComponentOwnedByGitOps", "%s must be upgraded to %s by the tool that manages it", placed.Component, placed.To))
	case v.userError != nil:
		return blocked(*v.userError)
	}
	if in.Archive, err = r.source.chart(ctx, in.Component.Chart); err != nil {
		if steps.Transient(err) {
			return refitv1alpha1.ComponentOffer{}, false, err
		}
		return blocked(offer.NewProblem("ChartMissing", "%v", err))
	}
	found, err := offer.Compute(ctx, v.cluster, in)
	if err != nil {
		return refitv1alpha1.ComponentOffer{}, false, err
	}
	return found.Status(p.release.ref, in), true, nil
}

func (r *Reconciler) conditions(status *refitv1alpha1.ComponentStatus, c *refitv1alpha1.Component, all releases) {
	set := func(kind string, value metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: refitv1alpha1.Clip(message, refitv1alpha1.MaxMessage), ObservedGeneration: c.Generation,
			LastTransitionTime: metav1.NewTime(r.now().UTC().Truncate(time.Second)),
		})
	}
	if status.Installed != nil {
		set(refitv1alpha1.ConditionReady, metav1.ConditionTrue, "Installed", fmt.Sprintf("%s %s is installed", c.Name, status.Installed.Version))
	} else {
		set(refitv1alpha1.ConditionReady, metav1.ConditionFalse, "NotInstalled", "the component is not installed")
	}
	if len(all.refused) > 0 {
		set(refitv1alpha1.ConditionStalled, metav1.ConditionTrue, "SignatureInvalid", strings.Join(all.refused, "; "))
	} else {
		meta.RemoveStatusCondition(&status.Conditions, refitv1alpha1.ConditionStalled)
	}
}
