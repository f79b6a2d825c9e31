package install

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Survey is what is installed of Refit in a cluster, and what Remove would do.
type Survey struct {
	Version string // of Refit
	Objects []Change
	// Content counts the custom resources, which are deleted with their CRDs.
	Content []Count
	// Cordoned are the nodes that Refit cordoned.
	Cordoned []string
	// Nodes are the nodes whose hosts are reachable, Unreachable the others.
	Nodes, Unreachable []string
}

// Count is the number of objects of a resource.
type Count struct {
	Resource string
	Number   int
}

// Installed reports whether any object belongs to Refit.
func (s Survey) Installed() bool {
	return slices.ContainsFunc(s.Objects, func(c Change) bool { return c.Action == Removed })
}

// ownResources are the custom resources of Refit.
var ownResources = []string{
	"clusterupgrades", "nodeupgrades", "nodereports", "clusterreleases", "backupstores", "etcdbackups", "components", "componentupgrades", "maintenancewindows",
	"upgradeschedules",
}

// Survey reads what is installed. It changes nothing.
func (c *Cluster) Survey(ctx context.Context, o Options) (Survey, error) {
	inventory, err := c.inventory(ctx)
	if err != nil {
		return Survey{}, err
	}
	out := Survey{Version: inventory.Version}
	refs, err := c.removable(ctx, o)
	if err != nil {
		return out, err
	}
	for _, ref := range refs {
		found, err := c.get(ctx, ref)
		switch {
		case err != nil:
			return out, err
		case found == nil:
		case isRemovable(found):
			out.Objects = append(out.Objects, Change{Ref: ref, Action: Removed})
		default:
			out.Objects = append(out.Objects, Change{Ref: ref, Action: Left})
		}
	}
	for _, resource := range ownResources {
		number, err := c.count(ctx, resource)
		if err != nil {
			return out, err
		}
		out.Content = append(out.Content, Count{resource, number})
	}
	err = c.eachNode(ctx, func(node *corev1.Node) error {
		if node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
			out.Cordoned = append(out.Cordoned, node.Name)
		}
		if virtual(node) {
			return nil
		}
		if _, ready := readiness(node); ready {
			out.Nodes = append(out.Nodes, node.Name)
		} else {
			out.Unreachable = append(out.Unreachable, node.Name)
		}
		return nil
	})
	return out, err
}

// count counts custom resources without reading them.
func (c *Cluster) count(ctx context.Context, resource string) (int, error) {
	page, err := c.objects.Resource(refitv1alpha1.GroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("cannot count %s: %w", resource, err)
	}
	number := len(page.Items)
	if more := page.GetRemainingItemCount(); more != nil {
		number += int(*more)
	}
	return number, nil
}

// removable lists everything that this or an earlier install may have created, in the order in
// which it is deleted.
func (c *Cluster) removable(ctx context.Context, o Options) ([]Ref, error) {
	inventory, err := c.inventory(ctx)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		objects, err := readFolder(o.Manifests, folder)
		if err != nil {
			return nil, err
		}
		refs, err := refsOf(objects)
		if err != nil {
			return nil, err
		}
		inventory = inventory.with(refs)
	}
	refs := inventory.with([]Ref{removerRef}).Objects
	slices.SortStableFunc(refs, func(a, b Ref) int { return removalRank(b) - removalRank(a) })
	return refs, nil
}

// removalRank is the order of deletion, the highest first: the reverse of the order in which
// objects are applied. But the namespace with privileged pods is deleted before the policy that
// guards it, and kinds that only an earlier version installed come first: no object depends on them
// any more.
func removalRank(ref Ref) int {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.resource == ref.Resource })
	switch {
	case at < 0:
		return len(kinds)
	case ref.Resource == "namespaces" && ref.Name == AgentNamespace:
		return slices.IndexFunc(kinds, func(k kind) bool { return k.kind == kindConfigMap })
	}
	return at
}
