package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// The namespaces of Refit, and the one in which Events about cluster-scoped objects are.
const (
	namespaceSystem     = "refit-system"
	namespaceComponents = "refit-components"
	namespaceAgent      = "refit-agent"
	namespaceTrial      = "refit-trial"
	namespaceCluster    = "default"
)

// collection is a kind of object, in a namespace or in the cluster.
type collection struct {
	schema.GroupVersionResource

	namespace string
}

func refit(name string) schema.GroupVersionResource {
	return refitv1alpha1.GroupVersion.WithResource(name)
}

func core(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: name}
}

func apps(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: name}
}

// Kinds are the resources of Refit's CRDs. A test compares them with the manifests.
var Kinds = []string{
	"backupstores", "clusterreleases", "clusterupgrades", "components", "componentupgrades", "etcdbackups", "maintenancewindows", "nodereports", "nodeupgrades",
	"upgradeschedules",
}

// resources are the objects of a bundle. Secrets and ConfigMaps are not among them, and never are.
func resources() (out []collection) {
	for _, kind := range Kinds {
		out = append(out, collection{refit(kind), ""})
	}
	out = append(out, collection{core("nodes"), ""})
	for _, namespace := range []string{namespaceSystem, namespaceComponents, namespaceAgent} {
		for _, kind := range []schema.GroupVersionResource{apps("daemonsets"), apps("deployments"), core("pods")} {
			out = append(out, collection{kind, namespace})
		}
	}
	out = append(out, collection{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, namespaceSystem})
	return out
}

const (
	perPage = 200
	// listTimeout bounds the list of one kind.
	listTimeout = time.Minute
)

// errFull ends a list that has reached the limit.
var errFull = errors.New("the list has reached its limit")

func (r *run) list(ctx context.Context, from collection, each func(*unstructured.Unstructured) error) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	for token, more := "", true; more; more = token != "" {
		page, err := r.Dynamic.Resource(from.GroupVersionResource).Namespace(from.namespace).List(ctx, metav1.ListOptions{Limit: perPage, Continue: token})
		if err != nil {
			return fmt.Errorf("cannot list %s: %w", from.Resource, err)
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return err
			}
		}
		token = page.GetContinue()
	}
	return nil
}

// objects adds the objects.
func (r *run) objects(ctx context.Context) error {
	for _, from := range resources() {
		source := from.Resource
		if from.namespace != "" {
			source += " of " + from.namespace
		}
		r.report(Progress{Activity: "reads " + source})
		err := r.addList(ctx, from, source, supportbundle.ObjectsPath(from.Resource, from.namespace), func(*unstructured.Unstructured) bool { return true })
		if err != nil {
			return err
		}
	}
	return nil
}

// addList adds a list of objects as one part.
func (r *run) addList(ctx context.Context, from collection, source, path string, wanted func(*unstructured.Unstructured) bool) error {
	p := archive.Part{BundlePart: cliv1alpha1.BundlePart{Path: path, Source: source}}
	counts := redact.Counts{}
	err := r.list(ctx, from, func(u *unstructured.Unstructured) error {
		if !wanted(u) {
			return nil
		}
		object, redacted := supportbundle.Object(r.redact, u.Object)
		text, err := yaml.Marshal(object)
		if err != nil {
			return fmt.Errorf("cannot encode %s %s: %w", from.Resource, u.GetName(), err)
		}
		if int64(len(p.Content)+len(text)) > r.Limits.Host {
			p.Truncated = true
			return errFull
		}
		counts.Add(redacted)
		p.Content = append(append(p.Content, "---\n"...), text...)
		p.Items++
		return nil
	})
	if err != nil && !errors.Is(err, errFull) {
		p.Error = r.classify(err)
	}
	p.Redactions = counts
	return r.add(p)
}

// events adds the Events about Refit's objects, in the time of the bundle.
func (r *run) events(ctx context.Context) error {
	for _, namespace := range []string{namespaceCluster, namespaceSystem, namespaceComponents, namespaceAgent, namespaceTrial} {
		source := "Events of " + namespace
		r.report(Progress{Activity: "reads " + source})
		err := r.addList(ctx, collection{core("events"), namespace}, source, supportbundle.EventsPath(namespace), r.recent)
		if err != nil {
			return err
		}
	}
	return nil
}

// recent is true for an Event that is not older than the time of the bundle.
func (r *run) recent(u *unstructured.Unstructured) bool {
	for _, field := range [][]string{{"lastTimestamp"}, {"series", "lastObservedTime"}, {"eventTime"}, {"metadata", "creationTimestamp"}} {
		text, _, _ := unstructured.NestedString(u.Object, field...)
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			return !at.Before(r.window.Since)
		}
	}
	return true
}
