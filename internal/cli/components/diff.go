package components

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// Differ computes the changes of components with the permissions of the user.
type Differ struct {
	Config  *rest.Config
	Cluster string // the user's name for it
}

// Diff computes the offers that a ClusterRelease has for a component; without one, those of the
// newest version of Kubernetes that change it. It returns exit.ErrBlocked beside the result if a
// problem blocks an offer.
func (d *Differ) Diff(ctx context.Context, known progress.KnownComponent, release string) (*cliv1alpha1.ComponentDiff, error) {
	offers, err := chosen(known.Component, release)
	if err != nil {
		return nil, err
	}
	reader, err := newReader(d.Config)
	if err != nil {
		return nil, err
	}
	out := &cliv1alpha1.ComponentDiff{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindComponentDiff, Cluster: d.Cluster, Component: known.Component.Name,
	}
	blocked := false
	for i := range offers {
		c := &computing{Differ: d, known: known, recorded: &offers[i], reader: reader}
		found, err := c.compute(ctx)
		if apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("cannot compute the changes with your permissions, which must allow you to read the Helm release with its objects, "+
				"the ClusterRelease and its charts: %w", err)
		}
		if err != nil {
			return nil, err
		}
		out.Offers, blocked = append(out.Offers, *found), blocked || found.Blocked()
	}
	return out, exit.IfBlocked(blocked)
}

// chosen returns the offers of one ClusterRelease.
func chosen(c *refitv1alpha1.Component, release string) ([]refitv1alpha1.ComponentOffer, error) {
	var names []string
	newest := ""
	for i := range c.Status.Offers {
		o := &c.Status.Offers[i]
		if !slices.Contains(names, o.Release.Name) {
			names = append(names, o.Release.Name)
		}
		if newest == "" || o.Action != refitv1alpha1.ActionNone {
			newest = o.Release.Name
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no ClusterRelease in the cluster offers component %s", c.Name)
	}
	if release == "" {
		release = newest
	}
	if !slices.Contains(names, release) {
		return nil, exit.Usagef("--to: ClusterRelease %s does not offer component %s; these do: %s", release, c.Name, strings.Join(names, ", "))
	}
	return slices.DeleteFunc(slices.Clone(c.Status.Offers), func(o refitv1alpha1.ComponentOffer) bool { return o.Release.Name != release }), nil
}

func newReader(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), refitv1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot create clients: %w", err)
	}
	return reader, nil
}

// computing computes one offer.
type computing struct {
	*Differ
	known    progress.KnownComponent
	recorded *refitv1alpha1.ComponentOffer
	reader   client.Client
	notes    []string
	// incomparable is set if the digest cannot be that of the offer.
	incomparable bool
}

func (c *computing) compute(ctx context.Context) (*cliv1alpha1.OfferDiff, error) {
	out := &cliv1alpha1.OfferDiff{ComponentOffer: progress.NewComponentOffer(c.known.Component, c.recorded)}
	if c.recorded.Action == refitv1alpha1.ActionNone || observed(c.known.Component) || refused(c.recorded) {
		return out, nil
	}
	signed, err := c.signed(ctx)
	if err != nil {
		return nil, err
	}
	in, err := c.read(ctx, signed)
	problem, known := problemOf(err)
	switch {
	case known:
		return c.blocked(out, problem), nil
	case err != nil:
		return nil, err
	}
	if (in.Deployed == nil) != (in.Action == component.Install) {
		return nil, fmt.Errorf("the Helm release of %s has changed, and refit-components has not computed the offers again yet: wait, then try again",
			c.known.Component.Name)
	}
	judge, err := crd.NewActor(c.Config, manager)
	if err != nil {
		return nil, err
	}
	found, err := offer.Compute(ctx, offer.Cluster{Reader: c.reader, CRDs: &lenient{Actor: judge, notes: &c.notes}}, in)
	if err != nil {
		return nil, err
	}
	return c.result(found, in)
}

// manager is the field manager of dry runs.
const manager = "refit"

func observed(c *refitv1alpha1.Component) bool { return c.Spec.Manage == refitv1alpha1.ManageObserve }

// refused reports whether refit-components does not trust the ClusterRelease of an offer.
func refused(o *refitv1alpha1.ComponentOffer) bool {
	return slices.ContainsFunc(o.Problems, func(p refitv1alpha1.ComponentProblem) bool { return p.Reason == "SignatureInvalid" })
}

// signed returns the version of the component in its ClusterRelease. refit-components has verified
// the signature: an offer of other content has another digest.
func (c *computing) signed(ctx context.Context) (refitv1alpha1.ReleaseComponent, error) {
	ref, name := c.recorded.Release, c.known.Component.Name
	var release refitv1alpha1.ClusterRelease
	if err := c.reader.Get(ctx, client.ObjectKey{Name: ref.Name}, &release); err != nil {
		return refitv1alpha1.ReleaseComponent{}, fmt.Errorf("cannot get ClusterRelease %s: %w", ref.Name, err)
	}
	opened, err := artifact.Unverified(release.Spec.Envelope)
	if err != nil {
		return refitv1alpha1.ReleaseComponent{}, fmt.Errorf("cannot read ClusterRelease %s: %w", ref.Name, err)
	}
	all, err := artifact.UnverifiedComponents(release.Spec.Components, opened.Digest)
	if err != nil {
		return refitv1alpha1.ReleaseComponent{}, fmt.Errorf("cannot read the components of ClusterRelease %s: %w", ref.Name, err)
	}
	at := slices.IndexFunc(all.List, func(r refitv1alpha1.ReleaseComponent) bool { return r.Name == name && r.Version == c.recorded.Version })
	if at < 0 {
		return refitv1alpha1.ReleaseComponent{}, fmt.Errorf("ClusterRelease %s does not have %s %s any more: wait until refit-components has read it",
			ref.Name, name, c.recorded.Version)
	}
	return all.List[at], nil
}

func (c *computing) read(ctx context.Context, signed refitv1alpha1.ReleaseComponent) (offer.Input, error) {
	in, err := offer.Read(ctx, offer.Source{
		Config: c.Config, Reader: c.reader, Helm: helm.New(ctx, c.Config, helm.Release(signed.Release), slog.DiscardHandler),
		Chart: func(ctx context.Context) ([]byte, error) { return charts.Get(ctx, c.reader, signed.Chart) },
		Key:   c.key,
	}, offer.Change{Component: signed, Action: component.Action(c.recorded.Action), Kubernetes: c.recorded.Kubernetes})
	// The next operation continues an upgrade that failed after it had changed something.
	if u := c.known.Order; err == nil && u != nil && u.Status.Phase == refitv1alpha1.ComponentFailed && !component.Replaceable(u.Status) {
		in.From = u.Status.From
	}
	return in, err
}

// key returns the key of a digest that covers values from Secrets. Without it, the digest is
// another one than that of the offer.
func (c *computing) key(ctx context.Context) ([]byte, error) {
	key, err := offer.DigestKey(ctx, c.reader)
	switch {
	case apierrors.IsForbidden(err):
		c.incomparable = true
		c.notes = append(c.notes, fmt.Sprintf("The result cannot be compared with the offer of refit-components: %v.", err))
	case !apierrors.IsNotFound(err): // refit-components has computed no such digest yet
		return key, err
	}
	return []byte(rand.Text()), nil
}

// problemOf returns the problem that an error stands for.
func problemOf(err error) (offer.Problem, bool) {
	switch {
	case errors.Is(err, charts.ErrMissing), errors.Is(err, charts.ErrOther):
		return offer.NewProblem("ChartMissing", "%v", err), true
	case errors.Is(err, offer.ErrValuesMissing):
		return offer.NewProblem("ValuesMissing", "%v", err), true
	}
	return offer.Problem{}, false
}

// blocked is an offer that a problem keeps from being computed.
func (c *computing) blocked(out *cliv1alpha1.OfferDiff, problem offer.Problem) *cliv1alpha1.OfferDiff {
	out.Recorded, out.Digest, out.Changes = out.Digest, "", nil
	out.Problems = []cliv1alpha1.ComponentProblem{cliv1alpha1.ComponentProblem(problem)}
	return out
}

func (c *computing) result(found *offer.Offer, in offer.Input) (*cliv1alpha1.OfferDiff, error) {
	status := found.Status(c.recorded.Release, in)
	out := &cliv1alpha1.OfferDiff{ComponentOffer: progress.NewComponentOffer(c.known.Component, &status), Notes: c.notes}
	switch {
	case c.incomparable:
		out.Digest = c.recorded.Digest
	case found.Digest != c.recorded.Digest:
		out.Recorded = c.recorded.Digest
	}
	for _, shown := range found.Show() {
		diff, err := unified(shown, in)
		if err != nil {
			return nil, err
		}
		change := string(shown.Kind)
		if shown.Kind == component.Deleted && shown.Object.CRD() {
			change = "Keep"
		}
		out.Objects = append(out.Objects, cliv1alpha1.ObjectDiff{Change: change, Object: shown.Object.String(), Diff: diff})
	}
	return out, nil
}

// unified returns the change of an object as a unified diff.
func unified(shown component.Shown, in offer.Input) (string, error) {
	const nothing = "/dev/null"
	from, to := nothing, nothing
	var before, after []string
	for _, side := range []struct {
		object  component.Object
		version string
		name    *string
		lines   *[]string
	}{{shown.Before, in.From, &from, &before}, {shown.After, in.Component.Version, &to, &after}} {
		if side.object == nil {
			continue
		}
		content, err := yaml.Marshal(map[string]any(side.object))
		if err != nil {
			return "", fmt.Errorf("cannot show %s: %w", shown.Object, err)
		}
		*side.name, *side.lines = in.Component.Name+" "+side.version, slices.Collect(strings.Lines(string(content)))
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: before, B: after, FromFile: from, ToFile: to, Context: 3})
}

// lenient notes CRDs that the user may not check. The digest of an offer does not depend on it.
type lenient struct {
	*crd.Actor
	notes *[]string
}

func (l *lenient) Judge(ctx context.Context, definition *crd.Definition) (*crd.Report, error) {
	report, err := l.Actor.Judge(ctx, definition)
	if apierrors.IsForbidden(err) {
		*l.notes = append(*l.notes, fmt.Sprintf("The objects of the CRD %s were not checked with your permissions: %v.", definition.Name, err))
		return &crd.Report{}, nil
	}
	return report, err
}
