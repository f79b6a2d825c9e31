package offer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// Cluster is where an offer is computed for.
type Cluster struct {
	// Reader reads objects from the API server, never from a cache.
	Reader client.Client
	// CRDs judges definitions with the live objects.
	CRDs Judge
}

// Judge judges the change of a CRD with the live objects, and reads definitions.
type Judge interface {
	Judge(ctx context.Context, definition *crd.Definition) (*crd.Report, error)
	Definitions(ctx context.Context, names ...string) (map[string]*crd.Definition, error)
}

// Input is what an offer depends on.
type Input struct {
	Component refitv1alpha1.ReleaseComponent
	// Archive is the verified chart.
	Archive []byte
	Action  component.Action
	// From is the installed version, empty for an installation.
	From string
	// Capabilities are those of the cluster when the component changes.
	Capabilities helm.Capabilities
	// Spec is the user's, and User are all values in it and in the Secrets that it names.
	Spec refitv1alpha1.ComponentSpec
	User map[string]any
	// Secret are the texts of the values in Secrets.
	Secret []string
	// Key is that of the digest if some of the values come from Secrets.
	Key []byte
	// Deployed is the deployed revision of the Helm release, nil for an installation.
	Deployed *helm.Record
	// Owner is who installed the component, and Pending why its newest revision is unfinished.
	Owner   refitv1alpha1.ComponentOwner
	Pending string
	// Unreadable is why the Helm release cannot be read.
	Unreadable *Problem
	// Foreign returns those of the objects that exist and were never the release's, and Taken those
	// that belong to another release now.
	Foreign func(context.Context, []helm.Ref) ([]helm.ForeignObject, error)
	Taken   func(context.Context, []helm.Ref) ([]helm.Ref, error)
}

// Offer is what a version of a component would change.
type Offer struct {
	// Upgrade is the new version. Its revision From is set once the release is adopted.
	Upgrade helm.Upgrade
	// Definitions are the CRDs of the new version.
	Definitions []*crd.Definition
	// Created are the objects and hooks that only the new version has: a rollback deletes them.
	Created  []helm.Ref
	Changes  []component.Change
	CRDs     []refitv1alpha1.CRDChange
	Digest   string // empty if the chart cannot be rendered
	Problems []Problem

	// manifests are what Changes were computed from.
	manifests struct {
		before, after []component.Object
		namespace     string
		mask          component.Mask
	}
}

// Show returns the changes with the objects. Secret and random values are masked.
func (o *Offer) Show() []component.Shown {
	m := &o.manifests
	return component.Show(m.before, m.after, m.namespace, m.mask)
}

// Problem speaks against an offer.
type Problem = refitv1alpha1.ComponentProblem

// Compute returns the offer. Its problems are those of the component; an error means that the
// cluster cannot be read.
func Compute(ctx context.Context, cluster Cluster, in Input) (*Offer, error) {
	o := &Offer{}
	if in.Unreadable != nil {
		o.add(*in.Unreadable)
		return o, nil
	}
	o.add(ownerProblems(in)...)
	if in.Action == component.Remove {
		err := o.removal(ctx, cluster, in)
		return o, err
	}
	rendered, err := o.render(ctx, in)
	if err != nil || !rendered {
		return o, err
	}
	if err := o.judge(ctx, cluster, in); err != nil {
		return o, err
	}
	if err := o.existing(ctx, in); err != nil {
		return o, err
	}
	peers, err := peerProblems(ctx, cluster.Reader, in)
	if err != nil {
		return o, err
	}
	o.add(peers...)
	checks, err := checkProblems(ctx, cluster.Reader, in)
	if err != nil {
		return o, err
	}
	o.add(checks...)
	o.sort()
	err = o.hash(in)
	return o, err
}

// render renders the new version and compares it with the deployed one. It returns false if the
// chart or the values have a problem.
func (o *Offer) render(ctx context.Context, in Input) (bool, error) {
	if paths := component.Forbidden(in.Component.UserMay, in.User); len(paths) > 0 {
		o.add(problem("ValuesForbidden", paths[0], "the publisher does not allow the values %s", list(paths)))
		return false, nil
	}
	chart, err := helm.Load(in.Archive)
	if err != nil {
		o.add(problem("ChartInvalid", "", "%v", err))
		return false, nil
	}
	u := helm.Upgrade{Chart: chart, Values: component.Merge(in.Component.Values, in.User), Capabilities: in.Capabilities, HookTimeout: HookTimeout}
	release := helm.Release(in.Component.Release)
	upgrade := in.Action != component.Install
	u.Rendering, err = helm.Render(ctx, chart, u.Values, release, in.Capabilities, upgrade)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		o.add(renderProblem(err, len(in.Spec.ValuesFrom) > 0))
		return false, nil
	}
	if err := o.lookups(ctx, in, u); err != nil {
		return false, err
	}
	if u.Rendering.Clock { // otherwise two renderings could have the same time
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(clockStep):
		}
	}
	again, err := helm.Render(ctx, chart, u.Values, release, in.Capabilities, upgrade)
	if err != nil {
		return false, err
	}
	var kept []helm.Object
	var old helm.Rendering
	if in.Deployed != nil {
		old = helm.Rendering{Objects: in.Deployed.Objects, Hooks: in.Deployed.Hooks, CRDs: in.Deployed.CRDs}
		kept = in.Deployed.Objects
	}
	u.Deletions, o.Created = only(old, u.Rendering), only(u.Rendering, old)
	o.Upgrade = u
	m := &o.manifests
	m.before, m.after, m.namespace = plain(old), plain(u.Rendering), release.Namespace
	m.mask = component.MaskOf(m.after, plain(again), m.namespace)
	o.Changes = component.Diff(m.before, m.after, m.namespace, m.mask)
	o.size(release, kept)
	return true, o.definitions()
}

// clockStep is the unit of the times that charts write, such as unixEpoch, and a little more.
const clockStep = 1100 * time.Millisecond

// renderProblem reports a chart that does not render. The error of a template or of a schema can
// quote values, so it is not shown if some of them come from Secrets.
func renderProblem(err error, secret bool) Problem {
	reason, cause := "ChartInvalid", err.Error()
	if errors.Is(err, helm.ErrValues) {
		reason = "ValuesInvalid"
	}
	if secret {
		cause = "the chart does not render with these values; the cause is not shown, because some of them come from Secrets"
	}
	return problem(reason, "", "%s", cause)
}

func (o *Offer) size(release helm.Release, kept []helm.Object) {
	size, err := helm.RecordSize(o.Upgrade.Chart, o.Upgrade.Values, release, o.Upgrade.Rendering, kept)
	switch {
	case err != nil:
		o.add(problem("ChartInvalid", "", "%v", err))
	case size > helm.MaxRecord:
		o.add(problem("HelmRecordTooLarge", "", "Helm's record of the upgrade has %d bytes, and at most %d fit into a Secret", size, helm.MaxRecord))
	}
}

// hash computes the digest of what an approval covers. The version of Kubernetes stands for the
// place in the plan: it is the same before and after the hop that the component waits for.
func (o *Offer) hash(in Input) (err error) {
	approved := component.Approved{
		Action: in.Action, Name: in.Component.Name, From: in.From, To: in.Component.Version, Chart: in.Component.Chart.Digest,
		Values: o.Upgrade.Values, Recipe: in.Component.Recipe, Changes: o.Changes, Schedule: in.Capabilities.Kubernetes,
	}
	if in.Action == component.Remove { // whichever ClusterRelease has the policy
		approved.Chart, approved.Recipe = "", nil
	}
	for _, change := range o.Changes {
		if change.Kind == component.Deleted && !change.Object.CRD() {
			approved.Deletes = append(approved.Deletes, change.Object)
		}
	}
	for _, change := range o.CRDs {
		approved.CRDs = append(approved.CRDs, change.Name+" "+change.Storage)
	}
	var key []byte
	if len(in.Spec.ValuesFrom) > 0 && in.Action != component.Remove {
		key = in.Key
	}
	o.Digest, err = approved.Digest(key)
	return err
}

func (o *Offer) add(problems ...Problem) { o.Problems = append(o.Problems, problems...) }

// sort puts blocking problems first.
func (o *Offer) sort() {
	slices.SortStableFunc(o.Problems, func(a, b Problem) int {
		switch {
		case a.Blocks == b.Blocks:
			return 0
		case a.Blocks:
			return -1
		}
		return 1
	})
}

// plain returns the objects of a rendering as the core reads them, with CRDs and without hooks.
func plain(r helm.Rendering) (objects []component.Object) {
	for _, object := range slices.Concat(r.Objects, r.CRDs) {
		objects = append(objects, object.Content.Object)
	}
	return objects
}

// only returns the objects and hooks that only the first rendering has.
func only(a, b helm.Rendering) (refs []helm.Ref) {
	has := map[helm.Ref]bool{}
	for _, object := range slices.Concat(b.Objects, b.Hooks) {
		has[object.Ref] = true
	}
	for _, object := range slices.Concat(a.Objects, a.Hooks) {
		if !has[object.Ref] {
			refs = append(refs, object.Ref)
		}
	}
	return refs
}

// existing reports objects of others that have the name of an object that the new version creates.
// Helm deletes an object with the name of a hook, whoever created it. Jobs and Pods of hooks may
// exist: an uninstallation leaves them.
func (o *Offer) existing(ctx context.Context, in Input) error {
	hooks := map[helm.Ref]bool{}
	for _, hook := range o.Upgrade.Rendering.Hooks {
		hooks[hook.Ref] = true
	}
	found, err := in.Foreign(ctx, slices.DeleteFunc(slices.Clone(o.Created), func(ref helm.Ref) bool {
		return hooks[ref] && (ref.Group == "batch" && ref.Kind == "Job" || ref.Group == "" && ref.Kind == "Pod")
	}))
	for _, object := range found {
		if hooks[object.Ref] {
			o.add(problem("ObjectExists", object.String(),
				"the new version has the hook %s, and Helm deletes the object of that name, which does not belong to the Helm release", object.Ref))
			continue
		}
		if object.Release != "" {
			p := problem("ObjectExists", object.String(), "the new version creates %s, which belongs to the Helm release %s", object.Ref, object.Release)
			p.Remedy = "Keep the object, because that Helm release needs it. Disable it in the values of one of both, or ask the publisher for another name"
			o.add(p)
			continue
		}
		o.add(problem("ObjectExists", object.String(), "the new version creates %s, which exists and does not belong to the Helm release", object.Ref))
	}
	return err
}

// Status returns the offer as the status of a Component lists it.
func (o *Offer) Status(release refitv1alpha1.ReleaseRef, in Input) refitv1alpha1.ComponentOffer {
	out := refitv1alpha1.ComponentOffer{
		Release: release, Version: in.Component.Version, Action: refitv1alpha1.ComponentAction(in.Action), Kubernetes: in.Capabilities.Kubernetes,
		Digest: o.Digest, Problems: o.Problems[:min(len(o.Problems), maxProblems)],
	}
	for _, change := range o.Changes {
		if change.Object.CRD() { // listed on their own, and never deleted
			continue
		}
		switch change.Kind {
		case component.Created:
			out.Changes.Create++
		case component.Changed:
			out.Changes.Change++
		case component.Deleted:
			out.Changes.Delete++
			if len(out.Deletes) < maxDeletes {
				out.Deletes = append(out.Deletes, refitv1alpha1.Clip(change.Object.String(), maxObject))
			}
		}
	}
	out.CRDs = o.CRDs[:min(len(o.CRDs), maxCRDs)]
	return out
}

// RenderAgain renders the version of an order again, from what was saved when it was checked.
func RenderAgain(ctx context.Context, u helm.Upgrade, release helm.Release, upgrade bool) (*Offer, error) {
	o := &Offer{Upgrade: u}
	var err error
	if o.Upgrade.Rendering, err = helm.Render(ctx, u.Chart, u.Values, release, u.Capabilities, upgrade); err != nil {
		return nil, err
	}
	o.Upgrade.HookTimeout = HookTimeout
	err = o.definitions()
	return o, err
}

func (o *Offer) definitions() error {
	for _, object := range o.Upgrade.Rendering.CRDs {
		definition, err := definitionOf(object)
		if err != nil {
			return fmt.Errorf("cannot read the CRD %s: %w", object.Name, err)
		}
		o.Definitions = append(o.Definitions, definition)
	}
	return nil
}
