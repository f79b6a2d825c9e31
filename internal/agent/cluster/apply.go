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

// applied is the part of an object that the agent owns. It must not contain a spec, even if that is
// empty.
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

// ApplyUpgradeStatus writes the status of the upgrade. It omits status.drain, which the controller
// owns.
func (c *Client) ApplyUpgradeStatus(ctx context.Context, name string, status refitv1alpha1.NodeUpgradeStatus) error {
	status.Drain = nil
	return c.apply(ctx, nodeUpgrades, "status", applied{Kind: "NodeUpgrade", Metadata: metadata{Name: name}, Status: status})
}

// ApplyReportStatus writes the facts of the host.
func (c *Client) ApplyReportStatus(ctx context.Context, status refitv1alpha1.NodeReportStatus) error {
	return c.apply(ctx, nodeReports, "status", applied{Kind: "NodeReport", Metadata: metadata{Name: c.nodeName}, Status: status})
}

// EnsureReport creates the NodeReport of this node, owned by the Node.
func (c *Client) EnsureReport(ctx context.Context, of *corev1.Node) error {
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: of.Name, UID: of.UID}
	return c.apply(ctx, nodeReports, "", applied{Kind: "NodeReport", Metadata: metadata{Name: c.nodeName, OwnerReferences: []metav1.OwnerReference{owner}}})
}

func (c *Client) apply(ctx context.Context, resource, part string, object applied) error {
	object.APIVersion = refitv1alpha1.GroupVersion.String()
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("cannot write %s %s: %w", resource, object.Metadata.Name, err)
	}
	use, err := c.current()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	force := true // the agent is the authority on this host
	request := use.refit.Patch(types.ApplyPatchType).Resource(resource).Name(object.Metadata.Name).
		VersionedParams(&metav1.PatchOptions{FieldManager: fieldManager, Force: &force}, metav1.ParameterCodec).Body(body)
	if part != "" {
		request = request.SubResource(part)
	}
	if err := c.after(use, request.Do(ctx).Error()); err != nil {
		return fmt.Errorf("cannot write %s %s: %w", resource, object.Metadata.Name, err)
	}
	return nil
}
