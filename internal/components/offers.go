package components

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/components/steps"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/form"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// resyncInterval is how often offers are computed without an event: objects of CRDs and the
	// version of Kubernetes change, too.
	resyncInterval = 10 * time.Minute
	// failedInterval is how often offers are computed while a check of the publisher fails: no
	// event announces that the user has changed the objects.
	failedInterval = 2 * time.Minute
	// busyInterval is how often a component that is being upgraded is read.
	busyInterval = 15 * time.Second
	// stallTimeout bounds the report of a computation that took too long.
	stallTimeout = 10 * time.Second
	// maxOffers is a limit of the API.
	maxOffers = 16
)

// Followed selects the Secrets whose changes are events: those in which Helm records releases, and
// those with values that are marked.
const Followed = "owner in (helm," + form.Owner + ")"

// Reconciler writes the status of Components: what is installed, and what each ClusterRelease would
// change.
type Reconciler struct {
	client client.Client // from the API server
	config *rest.Config
	source *source
	log    *slog.Logger
	now    func() time.Time
	known  atomic.Pointer[installedAs] // as last read
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), refitv1alpha1.AddToScheme(scheme))
}

// NewReconciler returns a Reconciler whose client reads from the API server.
func NewReconciler(c client.Client, config *rest.Config, o Options) *Reconciler {
	return &Reconciler{client: c, config: config, source: &source{reader: c, keys: o.Keys}, log: o.Log, now: time.Now}
}

// Reconcile creates a Component that a ClusterRelease has, and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	all, err := r.releases(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.ensureForm(ctx, all); err != nil {
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
	status, complete, err := r.status(ctx, &c, &u, all)
	if err != nil {
		return reconcile.Result{}, errors.Join(err, r.stall(ctx, &c, err))
	}
	return reconcile.Result{RequeueAfter: intervalOf(&status, complete)}, r.write(ctx, &c, status)
}

// stall reports why the status of a component cannot be computed. Earlier results stay.
func (r *Reconciler) stall(ctx context.Context, c *refitv1alpha1.Component, cause error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stallTimeout)
		defer cancel()
		ctx, cause = bounded, fmt.Errorf("what the ClusterReleases change cannot be computed in time: %w", cause)
	case ctx.Err() != nil: // the process ends
		return nil
	}
	status := *c.Status.DeepCopy()
	r.condition(&status, c, refitv1alpha1.ConditionStalled, metav1.ConditionTrue, "OffersNotComputed", node.Redact(cause.Error()))
	return r.write(ctx, c, status)
}

// intervalOf returns when a status is computed again.
func intervalOf(status *refitv1alpha1.ComponentStatus, complete bool) time.Duration {
	if !complete {
		return busyInterval
	}
	for i := range status.Offers {
		if slices.ContainsFunc(status.Offers[i].Problems, func(p offer.Problem) bool { return p.Blocks || p.Reason == componentplan.CheckFailed }) {
			return failedInterval
		}
	}
	return resyncInterval
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

// status computes the status of a component.
func (r *Reconciler) status(
	ctx context.Context, c *refitv1alpha1.Component, u *refitv1alpha1.ComponentUpgrade, all releases,
) (_ refitv1alpha1.ComponentStatus, complete bool, _ error) {
	status := refitv1alpha1.ComponentStatus{ObservedGeneration: c.Generation, Owner: refitv1alpha1.OwnerNone, Conditions: c.Status.Conditions}
	status.Conditions = slices.Clone(status.Conditions)
	v, err := r.view(ctx, c)
	if err != nil {
		return status, false, err
	}
	for _, signed := range byHelmRelease(signedVersions(c.Name, all)) {
		if err := r.readInstalled(ctx, v, signed, &status); err != nil {
			return status, false, err
		}
		if status.Owner != refitv1alpha1.OwnerNone {
			break
		}
	}
	unfinished(u, v, &status)
	v.status = status
	if complete, err = v.readAll(ctx, r.client); err != nil {
		return status, false, err
	}
	for _, release := range all.verified {
		if compareVersions(release.kubernetes, v.current) < 0 {
			continue
		}
		found, err := r.offers(ctx, v, release)
		if err != nil {
			return status, false, err
		}
		status.Offers = append(status.Offers, found...)
	}
	removal, err := r.removal(ctx, v, all)
	if err != nil {
		return status, false, err
	}
	var cut int
	status.Offers, cut = limited(removal, unsignedOffers(v, all), status.Offers, plannedOf(c.Name, v.plan))
	r.conditions(&status, c, all, cut)
	return status, complete, nil
}

// limited returns as many offers as the API permits. Those of ClusterReleases that are refused are
// left out first, because anybody may have created them, then those that change nothing, and then
// those of the oldest ClusterReleases, which are first: it returns how many of the latter. Those
// that a plan needs which runs are left out last, because its operation waits for them.
func limited(
	removal, unsigned, signed []refitv1alpha1.ComponentOffer, planned func(*refitv1alpha1.ComponentOffer) bool,
) (_ []refitv1alpha1.ComponentOffer, cut int) {
	surplus := len(removal) + len(signed) - maxOffers
	leaveOut := func(which func(*refitv1alpha1.ComponentOffer) bool) (left int) {
		signed = slices.DeleteFunc(slices.Clone(signed), func(o refitv1alpha1.ComponentOffer) bool {
			drop := surplus > 0 && which(&o)
			if drop {
				surplus--
				left++
			}
			return drop
		})
		return left
	}
	leaveOut(func(o *refitv1alpha1.ComponentOffer) bool { return o.Action == refitv1alpha1.ActionNone })
	cut = leaveOut(func(o *refitv1alpha1.ComponentOffer) bool { return !planned(o) })
	cut += leaveOut(func(*refitv1alpha1.ComponentOffer) bool { return true })
	unsigned = unsigned[:min(len(unsigned), max(0, maxOffers-len(removal)-len(signed)))]
	return slices.Concat(removal, unsigned, signed), cut
}

// plannedOf returns what reports whether a plan that runs needs an offer of a component.
func plannedOf(name string, plan []refitv1alpha1.PlannedComponent) func(*refitv1alpha1.ComponentOffer) bool {
	return func(o *refitv1alpha1.ComponentOffer) bool {
		return slices.ContainsFunc(plan, func(p refitv1alpha1.PlannedComponent) bool {
			return p.Name == name && p.Action == o.Action && p.To == o.Version && p.RunsOn == o.Kubernetes
		})
	}
}

// unsignedOffers report that a ClusterRelease is refused in place of what it would change.
func unsignedOffers(v *view, all releases) (out []refitv1alpha1.ComponentOffer) {
	for i := range all.unsigned {
		release := &all.unsigned[i]
		if compareVersions(release.kubernetes, v.current) < 0 {
			continue
		}
		hop := component.Release{Kubernetes: release.kubernetes, Components: release.components}
		wanted, _, err := component.WantedOf(v.component.Name, v.current, hop, v.installed, v.plan)
		if err != nil {
			continue // whatever it has, it is refused
		}
		for j := range wanted {
			out = append(out, refitv1alpha1.ComponentOffer{
				Release: release.ref, Version: wanted[j].To, Action: refitv1alpha1.ComponentAction(wanted[j].Action), Kubernetes: wanted[j].Kubernetes,
				Problems: []offer.Problem{offer.NewProblem("SignatureInvalid", "%s", release.cause)},
			})
		}
	}
	return out
}

// unfinished reports the version before an upgrade that failed, was paused or aborted after it had
// changed something: the next operation continues it then, instead of taking it for installed.
func unfinished(u *refitv1alpha1.ComponentUpgrade, v *view, status *refitv1alpha1.ComponentStatus) {
	stopped := u.Status.Phase == refitv1alpha1.ComponentFailed || u.Status.Phase == refitv1alpha1.ComponentApplying
	if !stopped || component.Replaceable(u.Status) || status.Installed == nil {
		return
	}
	v.release.From = u.Status.From
	if status.Installed.Version = u.Status.From; u.Status.From == "" {
		status.Installed = nil
	}
}

// offers computes what a ClusterRelease would change in a component, nothing if it does not have
// the component.
func (r *Reconciler) offers(ctx context.Context, v *view, release verified) (out []refitv1alpha1.ComponentOffer, err error) {
	name := v.component.Name
	if !slices.ContainsFunc(release.components, func(c refitv1alpha1.ReleaseComponent) bool { return c.Name == name }) {
		return nil, nil
	}
	observed := v.component.Spec.Manage == refitv1alpha1.ManageObserve
	plan := v.plan
	if observed { // only what does not fit matters
		plan = nil
		release.components = slices.Clone(release.components)
		for i := range release.components {
			if release.components[i].Name == name {
				release.components[i].Place = refitv1alpha1.PlaceAuto
			}
		}
	}
	hop := component.Release{Kubernetes: release.kubernetes, Components: release.components}
	wanted, noPath, err := component.WantedOf(name, v.current, hop, v.installed, plan)
	if err != nil {
		return nil, err
	}
	if observed {
		wanted = slices.DeleteFunc(wanted[:min(len(wanted), 1)], func(w component.Wanted) bool { return !w.Before })
	}
	for i := range wanted {
		found, err := r.compute(ctx, v, release, &wanted[i], observed)
		if err != nil {
			return nil, err
		}
		out = append(out, found)
	}
	target := refitv1alpha1.ComponentOffer{
		Release: release.ref, Action: refitv1alpha1.ActionNone, Kubernetes: release.kubernetes, Version: targetOf(release, name).Version,
	}
	switch {
	case noPath != nil:
		target.Action = actionOf(v)
		target.Problems = []offer.Problem{offer.NewProblem("ComponentHasNoPath", "%s", noPath.Message)}
		out = append(out, target)
	case len(out) == 0:
		out = append(out, target)
	}
	return out, nil
}

func actionOf(v *view) refitv1alpha1.ComponentAction {
	if v.release.Deployed == nil {
		return refitv1alpha1.ActionInstall
	}
	return refitv1alpha1.ActionUpgrade
}

// compute computes the offer of a change.
func (r *Reconciler) compute(
	ctx context.Context, v *view, release verified, wanted *component.Wanted, observed bool,
) (out refitv1alpha1.ComponentOffer, err error) {
	at := slices.IndexFunc(release.components, func(c refitv1alpha1.ReleaseComponent) bool {
		return c.Name == wanted.Component && c.Version == wanted.To
	})
	in := v.release
	in.Component, in.Action, in.Spec, in.User, in.Key = release.components[at], wanted.Action, v.component.Spec, v.user, v.key
	discover, err := discoveryOf(r.config)
	if err != nil {
		return out, err
	}
	if in.Capabilities, err = offer.CapabilitiesOf(discover, wanted.Kubernetes); err != nil {
		return out, err
	}
	blocked := func(problem offer.Problem) (refitv1alpha1.ComponentOffer, error) {
		return (&offer.Offer{Problems: []offer.Problem{problem}}).Status(release.ref, in), nil
	}
	switch {
	case observed:
		return blocked(offer.NewProblem("ComponentOwnedByGitOps", "%s must be upgraded to %s by the tool that manages it", wanted.Component, wanted.To))
	case v.userError != nil:
		return blocked(*v.userError)
	}
	if in.Archive, err = r.source.chart(ctx, in.Component.Chart); err != nil {
		if steps.Transient(err) {
			return out, err
		}
		return blocked(offer.NewProblem("ChartMissing", "%v", err))
	}
	if from, to := v.release.Component.Release, in.Component.Release; from != to {
		if v.status.Owner != refitv1alpha1.OwnerNone {
			return blocked(offer.NewProblem("ComponentMoved", "%s is installed as the Helm release %s/%s, and %s would be installed beside it as %s/%s",
				wanted.Component, from.Namespace, from.Name, wanted.To, to.Namespace, to.Name))
		}
		if err := offer.ReadRelease(ctx, v.cluster.Reader, helm.New(ctx, r.config, helm.Release(to), r.log.Handler()), &in); err != nil {
			return out, err
		}
	}
	found, err := offer.Compute(ctx, v.cluster, in)
	if err != nil {
		return out, err
	}
	unset, err := r.formProblems(ctx, v, release)
	if err != nil {
		return out, err
	}
	found.Problems = append(found.Problems, unset...)
	return found.Status(release.ref, in), nil
}

func (r *Reconciler) condition(
	status *refitv1alpha1.ComponentStatus, c *refitv1alpha1.Component, kind string, value metav1.ConditionStatus, reason, message string,
) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: refitv1alpha1.Clip(message, refitv1alpha1.MaxMessage), ObservedGeneration: c.Generation,
		LastTransitionTime: metav1.NewTime(r.now().UTC().Truncate(time.Second)),
	})
}

// conditions sets the conditions of a status that was computed. A ClusterRelease that is refused
// matters only if no other one has the component: nobody knows what it has.
func (r *Reconciler) conditions(status *refitv1alpha1.ComponentStatus, c *refitv1alpha1.Component, all releases, cut int) {
	set := func(kind string, value metav1.ConditionStatus, reason, message string) {
		r.condition(status, c, kind, value, reason, message)
	}
	more := ""
	if cut > 0 {
		more = fmt.Sprintf("; %d offers of the oldest ClusterReleases are missing, because the status lists at most %d: "+
			"delete ClusterReleases that you do not need",
			cut, maxOffers)
	}
	if status.Installed != nil {
		set(refitv1alpha1.ConditionReady, metav1.ConditionTrue, "Installed", fmt.Sprintf("%s %s is installed%s", c.Name, status.Installed.Version, more))
	} else {
		set(refitv1alpha1.ConditionReady, metav1.ConditionFalse, "NotInstalled", "the component is not installed"+more)
	}
	if len(all.refused) > 0 && len(signedVersions(c.Name, all)) == 0 {
		set(refitv1alpha1.ConditionStalled, metav1.ConditionTrue, "SignatureInvalid", strings.Join(all.refused, "; "))
	} else {
		meta.RemoveStatusCondition(&status.Conditions, refitv1alpha1.ConditionStalled)
	}
}
