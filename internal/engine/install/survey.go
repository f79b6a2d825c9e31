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

// Survey is what there is of Refit in a cluster, and what a removal would do.
type Survey struct {
	Version string // of Refit
	Objects []Change
	// Content counts the objects of our kinds, which go with their definitions.
	Content []Count
	// Cordoned are the nodes that Refit cordoned.
	Cordoned []string
	// Nodes are those whose hosts can be reached, Away the others.
	Nodes, Away []string
}

// Count is how many objects there are of a kind.
type Count struct {
	Resource string
	Number   int
}

// Installed says whether there is anything of ours.
func (s Survey) Installed() bool {
	return slices.ContainsFunc(s.Objects, func(c Change) bool { return c.Action == Removed })
}

// contents are our own kinds.
var contents = []string{"clusterupgrades", "nodeupgrades", "nodereports", "clusterreleases"}

// Survey looks, and changes nothing.
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
		case ours(found):
			out.Objects = append(out.Objects, Change{Ref: ref, Action: Removed})
		default:
			out.Objects = append(out.Objects, Change{Ref: ref, Action: Left})
		}
	}
	for _, resource := range contents {
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
		if _, ready := readiness(node); ready {
			out.Nodes = append(out.Nodes, node.Name)
		} else {
			out.Away = append(out.Away, node.Name)
		}
		return nil
	})
	return out, err
}

// count counts objects of our kinds without reading them.
func (c *Cluster) count(ctx context.Context, resource string) (int, error) {
	page, err := c.objects.Resource(refitv1alpha1.GroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("counting %s: %w", resource, err)
	}
	number := len(page.Items)
	if more := page.GetRemainingItemCount(); more != nil {
		number += int(*more)
	}
	return number, nil
}

// removable names everything that this or an earlier install may have brought, in the order in which it is removed.
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
	refs := inventory.with([]Ref{removingRef}).Objects
	slices.SortStableFunc(refs, func(a, b Ref) int { return removalRank(b) - removalRank(a) })
	return refs, nil
}

// removalRank is the order of removal, the highest first: the reverse of how things came. But the namespace in which pods may be privileged goes before the
// policy that guards it. A kind that only an earlier version installed goes first, too: nothing of ours stands on it any more.
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
