package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// Components returns all Components.
func (c *Cluster) Components(ctx context.Context) ([]refitv1alpha1.Component, error) {
	var out refitv1alpha1.ComponentList
	if err := c.Client.List(ctx, &out); err != nil {
		return nil, c.unreadable("Components", err)
	}
	return out.Items, nil
}

// ComponentUpgrades returns the orders for all components.
func (c *Cluster) ComponentUpgrades(ctx context.Context) ([]refitv1alpha1.ComponentUpgrade, error) {
	var out refitv1alpha1.ComponentUpgradeList
	if err := c.Client.List(ctx, &out); err != nil {
		return nil, c.unreadable("ComponentUpgrades", err)
	}
	return out.Items, nil
}

var errNoComponent = errors.New("there is no Component")

// Component reads the known facts of a component.
func (c *Cluster) Component(ctx context.Context, name string) (progress.KnownComponent, error) {
	known := progress.KnownComponent{Component: &refitv1alpha1.Component{}}
	err := c.Client.Get(ctx, client.ObjectKey{Name: name}, known.Component)
	if apierrors.IsNotFound(err) {
		return known, fmt.Errorf("%w %s in %s: `%s components list` lists them", errNoComponent, name, c.Name, c.Command)
	}
	if err != nil {
		return known, fmt.Errorf("cannot get Component %s: %w", name, err)
	}
	known.Alone = c.alone(ctx, known.Component)
	order := &refitv1alpha1.ComponentUpgrade{}
	found, err := c.find(ctx, name, order)
	if err != nil {
		return known, fmt.Errorf("cannot get ComponentUpgrade %s: %w", name, err)
	}
	if !found {
		return known, nil
	}
	known.Order = order
	operation := &refitv1alpha1.ClusterUpgrade{}
	found, err = c.find(ctx, order.Spec.Operation.Name, operation)
	if err != nil {
		return known, fmt.Errorf("cannot get ClusterUpgrade %s: %w", order.Spec.Operation.Name, err)
	}
	if found && operation.UID == order.Spec.Operation.UID {
		known.Operation = operation
	}
	return known, nil
}

// alone returns the ClusterReleases that offer a component and have the version of Kubernetes that
// the control plane runs. Without the permission to read them, none is known.
func (c *Cluster) alone(ctx context.Context, of *refitv1alpha1.Component) (names []string) {
	var nodes corev1.NodeList
	if err := c.Client.List(ctx, &nodes, client.HasLabels{controlPlaneLabel}); err != nil || len(nodes.Items) == 0 {
		return nil
	}
	running := nodes.Items[0].Status.NodeInfo.KubeletVersion
	if slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool { return n.Status.NodeInfo.KubeletVersion != running }) {
		return nil
	}
	for i := range of.Status.Offers {
		name, release := of.Status.Offers[i].Release.Name, &refitv1alpha1.ClusterRelease{}
		if of.Status.Offers[i].Kubernetes != running || slices.Contains(names, name) {
			continue
		}
		if found, err := c.find(ctx, name, release); err == nil && found && release.Spec.Kubernetes == running {
			names = append(names, name)
		}
	}
	return names
}

// adopter is the field manager of spec.adopt.
const adopter = "refit"

// Adopt lets Refit take over the Helm release of a component. It does not create a Component: one
// that no ClusterRelease has cannot be upgraded.
func (c *Cluster) Adopt(ctx context.Context, name string, dryRun bool) error {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"adopt":true}}`))
	options := []client.PatchOption{client.FieldOwner(adopter)}
	if dryRun {
		options = append(options, client.DryRunAll)
	}
	component := &refitv1alpha1.Component{}
	component.Name = name
	err := c.Client.Patch(ctx, component, patch, options...)
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("you may not change the spec of Component %s: it requires the verbs patch and approve on components.refit.dev. "+
			"Ask an administrator for the ClusterRole refit-component-editor: "+
			"`kubectl create clusterrolebinding NAME --clusterrole refit-component-editor --user USER`: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("cannot change the spec of Component %s: %w", name, err)
	}
	return nil
}
