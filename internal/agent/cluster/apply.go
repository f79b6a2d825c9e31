package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// applied is an object as far as the agent has something to say about it: a spec, even an empty one, is not its to write.
type applied struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Status     any      `json:"status,omitempty"`
}

type metadata struct {
	Name            string                  `json:"name"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences,omitempty"`
}

// ApplyUpgradeStatus says how far the work is. status.drain is the controller's, and left out whatever is in it here.
func (c *Client) ApplyUpgradeStatus(ctx context.Context, name string, status refitv1alpha1.NodeUpgradeStatus) error {
	status.Drain = nil
	return c.apply(ctx, nodeUpgrades, "status", applied{Kind: "NodeUpgrade", Metadata: metadata{Name: name}, Status: status})
}

// ApplyReportStatus says what the host is.
func (c *Client) ApplyReportStatus(ctx context.Context, status refitv1alpha1.NodeReportStatus) error {
	return c.apply(ctx, nodeReports, "status", applied{Kind: "NodeReport", Metadata: metadata{Name: c.nodeName}, Status: status})
}

// EnsureReport makes the NodeReport of this node. It belongs to the Node and goes with it.
func (c *Client) EnsureReport(ctx context.Context, of *corev1.Node) error {
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: of.Name, UID: of.UID}
	return c.apply(ctx, nodeReports, "", applied{Kind: "NodeReport", Metadata: metadata{Name: c.nodeName, OwnerReferences: []metav1.OwnerReference{owner}}})
}

func (c *Client) apply(ctx context.Context, resource, part string, object applied) error {
	object.APIVersion = refitv1alpha1.GroupVersion.String()
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("writing %s %s: %w", resource, object.Metadata.Name, err)
	}
	use, err := c.current()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	force := true // what we say of this host is so, whoever said something else before
	request := use.refit.Patch(types.ApplyPatchType).Resource(resource).Name(object.Metadata.Name).
		VersionedParams(&metav1.PatchOptions{FieldManager: fieldManager, Force: &force}, metav1.ParameterCodec).Body(body)
	if part != "" {
		request = request.SubResource(part)
	}
	if err := c.after(use, request.Do(ctx).Error()); err != nil {
		return fmt.Errorf("writing %s %s: %w", resource, object.Metadata.Name, err)
	}
	return nil
}
