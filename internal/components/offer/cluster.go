package offer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json" // with integers, as Helm reads them
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// Namespace is where refit-components runs, and where charts, values and saved content are.
const Namespace = "refit-components"

// valuesKey is the key of a Secret that has values, unless a Component names another one.
const valuesKey = "values.yaml"

// ErrValuesMissing is returned if a Secret that a Component names does not exist or has no values.
var ErrValuesMissing = errors.New("the Secret with values is missing")

// UserValues returns the values of a Component and of the Secrets that it names, and the texts of
// the latter, which must not be shown. Errors contain no values.
func UserValues(ctx context.Context, reader client.Reader, spec *refitv1alpha1.ComponentSpec) (values map[string]any, secret []string, err error) {
	values = map[string]any{}
	if spec.Values != nil && len(spec.Values.Raw) > 0 {
		if err := json.Unmarshal(spec.Values.Raw, &values); err != nil {
			return nil, nil, errors.New("cannot read spec.values: it is not an object")
		}
	}
	for _, source := range spec.ValuesFrom {
		var from corev1.Secret
		valuesKey := cmp.Or(source.Key, valuesKey)
		err := reader.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: source.Secret}, &from)
		if apierrors.IsNotFound(err) || err == nil && len(from.Data[valuesKey]) == 0 {
			return nil, nil, fmt.Errorf("%w: Secret %s/%s with the key %s", ErrValuesMissing, Namespace, source.Secret, valuesKey)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("cannot read the Secret %s/%s: %w", Namespace, source.Secret, err)
		}
		text, err := yaml.YAMLToJSON(from.Data[valuesKey])
		more := map[string]any{}
		if err != nil || json.Unmarshal(text, &more) != nil {
			return nil, nil, fmt.Errorf("cannot read the Secret %s/%s: its values are not an object in YAML", Namespace, source.Secret)
		}
		values, secret = component.Merge(values, more), append(secret, textsOf(more)...)
	}
	return values, secret, nil
}

// minSecret is the length from which a text is hidden: shorter ones occur in every message.
const minSecret = 4

// textsOf returns the texts and numbers in values.
func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, item := range v {
			texts = append(texts, textsOf(item)...)
		}
	case []any:
		for _, item := range v {
			texts = append(texts, textsOf(item)...)
		}
	case string, int64, float64:
		if text := fmt.Sprint(v); len(text) >= minSecret {
			texts = append(texts, text)
		}
	}
	return texts
}

// CapabilitiesOf returns what a chart sees of a cluster with a version of Kubernetes. The API
// versions of Kubernetes itself are those of that version and not of the running one, so that a
// rendering is the same before and after the cluster has reached it.
func CapabilitiesOf(client discovery.DiscoveryInterface, kubernetes string) (helm.Capabilities, error) {
	facts, known := kubefacts.For(kubernetes)
	_, resources, err := client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return helm.Capabilities{}, fmt.Errorf("cannot read the API versions of the cluster: %w", err)
	}
	found := map[string]bool{}
	for _, list := range resources {
		group, _, isGroup := strings.Cut(list.GroupVersion, "/")
		if !isGroup {
			group = ""
		}
		if known && facts.BuiltIn(group) {
			continue
		}
		found[list.GroupVersion] = true
		for i := range list.APIResources {
			if !strings.Contains(list.APIResources[i].Name, "/") {
				found[list.GroupVersion+"/"+list.APIResources[i].Kind] = true
			}
		}
	}
	if known {
		for _, api := range facts.APIs {
			if api.Served && api.Default {
				version := api.GVK().GroupVersion().String()
				found[version], found[version+"/"+api.Kind] = true, true
			}
		}
	}
	out := helm.Capabilities{Kubernetes: kubernetes}
	for version := range found {
		out.APIVersions = append(out.APIVersions, version)
	}
	slices.Sort(out.APIVersions)
	return out, nil
}

// The labels and annotations of tools that manage objects.
const (
	fluxLabel     = "helm.toolkit.fluxcd.io/name"
	fluxKustomize = "kustomize.toolkit.fluxcd.io/name"
	argoLabel     = "argocd.argoproj.io/instance"
	argoTracking  = "argocd.argoproj.io/tracking-id"
)

// maxOwned is how many live objects are read to find an owner: tools mark all of theirs.
const maxOwned = 5

// OwnerOf returns who manages a component: by the marks of objects, of which some are read, and by
// the mark in Helm's record.
func OwnerOf(ctx context.Context, reader client.Client, deployed *helm.Record, objects []helm.Object, namespace string) (refitv1alpha1.ComponentOwner, error) {
	for i, object := range objects {
		if owner := markOf(object.Content); owner != "" {
			return owner, nil
		}
		if i >= maxOwned {
			continue
		}
		live, err := liveOf(ctx, reader, object, namespace)
		if err != nil {
			return "", err
		}
		if live != nil {
			if owner := markOf(live); owner != "" {
				return owner, nil
			}
		}
	}
	if deployed == nil {
		return refitv1alpha1.OwnerNone, nil
	}
	if _, ours := deployed.Mark(); ours {
		return refitv1alpha1.OwnerRefit, nil
	}
	return refitv1alpha1.OwnerHelm, nil
}

func markOf(object *unstructured.Unstructured) refitv1alpha1.ComponentOwner {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	switch {
	case labels[fluxLabel] != "" || labels[fluxKustomize] != "":
		return refitv1alpha1.OwnerFlux
	case labels[argoLabel] != "" || annotations[argoTracking] != "" || annotations[argoLabel] != "":
		return refitv1alpha1.OwnerArgoCD
	}
	return ""
}

// liveOf returns the live object, or nil if it or its kind does not exist.
func liveOf(ctx context.Context, reader client.Client, object helm.Object, namespace string) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.Content.GroupVersionKind())
	namespaced, err := reader.IsObjectNamespaced(live)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the kind of %s: %w", object.Ref, err)
	}
	key := client.ObjectKey{Name: object.Name}
	if namespaced {
		if key.Namespace = object.Namespace; key.Namespace == "" {
			key.Namespace = namespace
		}
	}
	if err := reader.Get(ctx, key, live); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", object.Ref, err)
	}
	return live, nil
}

// pendingOf returns why the newest revision is unfinished. A pending revision of Refit does not
// count: its own step unlocks it.
func pendingOf(newest *helm.Record) string {
	_, ours := newest.Mark()
	if newest.Status == "uninstalling" || strings.HasPrefix(newest.Status, "pending") && !ours {
		return fmt.Sprintf("revision %d is %s", newest.Revision, newest.Status)
	}
	return ""
}

// ReadRelease reads the Helm release of a component, who owns it, and whether it is locked.
func ReadRelease(ctx context.Context, reader client.Client, release *helm.Client, in *Input) error {
	in.Foreign, in.Taken = release.Foreign, release.Taken
	deployed, err := release.Deployed(ctx)
	switch {
	case errors.Is(err, helm.ErrNoRelease): // also if it was uninstalled and its history kept
		return ownerWithoutRelease(ctx, reader, in)
	case errors.Is(err, helm.ErrOtherStorage):
		unreadable := problem("HelmStorageUnsupported", "", "the Helm release cannot be read: %v", err)
		in.Owner, in.Unreadable = refitv1alpha1.OwnerHelm, &unreadable
		return nil
	}
	if err != nil {
		return err
	}
	newest, err := release.Newest(ctx)
	if err != nil {
		return err
	}
	in.Pending = pendingOf(&newest)
	in.Deployed, in.From = &deployed, component.ShortVersion(deployed.ChartVersion)
	in.Owner, err = OwnerOf(ctx, reader, &deployed, deployed.Objects, in.Component.Release.Namespace)
	return err
}

// ownerWithoutRelease finds objects of tools that render charts themselves, such as Argo CD.
func ownerWithoutRelease(ctx context.Context, reader client.Client, in *Input) (err error) {
	chart, err := helm.Load(in.Archive)
	if err != nil {
		return nil //nolint:nilerr // the offer has this problem
	}
	rendering, err := helm.Render(ctx, chart, component.Merge(in.Component.Values, in.User), helm.Release(in.Component.Release), in.Capabilities, false)
	if err != nil {
		return nil //nolint:nilerr // the offer has this problem
	}
	in.Owner, err = OwnerOf(ctx, reader, nil, rendering.Objects, in.Component.Release.Namespace)
	return err
}
