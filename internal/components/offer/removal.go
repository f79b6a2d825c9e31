package offer

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// removal computes the removal of a component: all its objects are deleted, and its CRDs stay. It
// does not depend on the version of Kubernetes.
func (o *Offer) removal(ctx context.Context, cluster Cluster, in Input) error {
	reader := cluster.Reader
	deployed := helm.Rendering{Objects: in.Deployed.Objects, Hooks: in.Deployed.Hooks}
	o.Upgrade.Deletions = only(deployed, helm.Rendering{})
	o.manifests.before, o.manifests.namespace = plain(deployed), in.Component.Release.Namespace
	o.Changes = component.Diff(o.manifests.before, nil, o.manifests.namespace, nil)
	if hooks := removalHooks(in.Deployed.Hooks); len(hooks) > 0 {
		o.add(problem("RemovalNeedsHooks", hooks[0], "the chart deletes something with the hooks %s, which Refit does not run", list(hooks)))
	}
	taken, err := in.Taken(ctx, o.Upgrade.Deletions)
	if err != nil {
		return err
	}
	for _, ref := range taken {
		o.add(problem("ObjectTaken", ref.String(), "%s belongs to another Helm release now, and the removal would delete it", ref))
	}
	for _, object := range in.Deployed.Objects {
		what, err := dataOf(ctx, reader, object, in.Component.Release.Namespace)
		if err != nil {
			return err
		}
		if what != "" {
			o.add(problem("RemovalDeletesData", object.String(), "the removal deletes %s, which no rollback restores", what))
		}
	}
	if err := o.leavesObjects(ctx, cluster, in); err != nil {
		return err
	}
	in.Capabilities.Kubernetes = ""
	o.sort()
	return o.hash(in)
}

// leavesObjects reports objects of the CRDs of the chart: they stay without their controller. The
// CRDs are unknown if the chart does not exist any more, or renders with other values only.
func (o *Offer) leavesObjects(ctx context.Context, cluster Cluster, in Input) error {
	chart, err := helm.Load(in.Archive)
	if err != nil {
		return nil //nolint:nilerr // the removal does not need the chart
	}
	rendering, err := helm.Render(ctx, chart, in.Component.Values, helm.Release(in.Component.Release), in.Capabilities, true)
	if err != nil {
		return ctx.Err()
	}
	for _, definition := range rendering.CRDs {
		live, err := cluster.CRDs.Definitions(ctx, definition.Name)
		if err != nil {
			return err
		}
		if live[definition.Name] == nil {
			continue
		}
		objects, err := countOf(ctx, cluster.Reader, live[definition.Name])
		if err != nil {
			return err
		}
		if objects > 0 {
			p := problem("RemovalLeavesObjects", definition.Name,
				"%d objects of the CRD %s stay, and their controller is removed: their finalizers would keep them from being deleted", objects, definition.Name)
			p.Blocks = false
			o.add(p)
		}
	}
	return nil
}

// removalHooks returns the hooks that Helm runs when it uninstalls a release.
func removalHooks(hooks []helm.Object) (names []string) {
	for _, hook := range hooks {
		events := strings.Split(hook.Content.GetAnnotations()["helm.sh/hook"], ",")
		if slices.ContainsFunc(events, func(e string) bool { e = strings.TrimSpace(e); return e == "pre-delete" || e == "post-delete" }) {
			names = append(names, hook.String())
		}
	}
	return names
}

// dataOf returns which data the deletion of an object deletes; nothing if it is to be kept.
func dataOf(ctx context.Context, reader client.Client, object helm.Object, namespace string) (string, error) {
	holds := object.Group == "" && slices.Contains([]string{"Namespace", "PersistentVolume", "PersistentVolumeClaim"}, object.Kind)
	if !holds && (object.Group != "apps" || object.Kind != "StatefulSet") {
		return "", nil
	}
	live, err := liveOf(ctx, reader, object, namespace)
	if err != nil || live == nil || live.GetAnnotations()["helm.sh/resource-policy"] == "keep" {
		return "", err
	}
	if holds {
		return object.String() + " with all data", nil
	}
	policy, _, err := unstructured.NestedString(live.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	if err != nil || policy != "Delete" {
		return "", nil //nolint:nilerr // a string by its schema
	}
	return "the PersistentVolumeClaims of " + object.String(), nil
}
