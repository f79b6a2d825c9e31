package offer

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// removal computes the removal of a component: all its objects are deleted, and its CRDs stay. It
// does not depend on the version of Kubernetes.
func (o *Offer) removal(ctx context.Context, reader client.Client, in Input) error {
	deployed := helm.Rendering{Objects: in.Deployed.Objects, Hooks: in.Deployed.Hooks}
	o.Upgrade.Deletions = only(deployed, helm.Rendering{})
	o.manifests.before, o.manifests.namespace = plain(deployed), in.Component.Release.Namespace
	o.Changes = component.Diff(o.manifests.before, nil, o.manifests.namespace, nil)
	if hooks := removalHooks(in.Deployed.Hooks); len(hooks) > 0 {
		o.add(problem("RemovalNeedsHooks", hooks[0], "the chart deletes something with the hooks %s, which Refit does not run", list(hooks)))
	}
	var data []string
	for _, object := range in.Deployed.Objects {
		if !holdsData(object.Ref) {
			continue
		}
		live, err := liveOf(ctx, reader, object, in.Component.Release.Namespace)
		if err != nil {
			return err
		}
		if live != nil && live.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			data = append(data, object.Ref.String())
		}
	}
	if len(data) > 0 {
		o.add(problem("RemovalDeletesData", data[0], "the removal deletes %s with all data, which no rollback restores", list(data)))
	}
	in.Capabilities.Kubernetes = ""
	o.sort()
	return o.hash(in)
}

// removalHooks returns the hooks that Helm runs when it uninstalls a release.
func removalHooks(hooks []helm.Object) (names []string) {
	for _, hook := range hooks {
		events := strings.Split(hook.Content.GetAnnotations()["helm.sh/hook"], ",")
		if slices.ContainsFunc(events, func(e string) bool { e = strings.TrimSpace(e); return e == "pre-delete" || e == "post-delete" }) {
			names = append(names, hook.Ref.String())
		}
	}
	return names
}

// holdsData reports whether the deletion of an object deletes data, which no rollback restores.
func holdsData(ref helm.Ref) bool {
	return ref.Group == "" && slices.Contains([]string{"Namespace", "PersistentVolume", "PersistentVolumeClaim"}, ref.Kind)
}
