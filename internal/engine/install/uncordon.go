package install

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const nodesPerPage = 250

// eachNode looks at all nodes.
func (c *Cluster) eachNode(ctx context.Context, look func(*corev1.Node) error) error {
	options := metav1.ListOptions{Limit: nodesPerPage}
	for {
		page, err := c.client.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return fmt.Errorf("reading the nodes: %w", err)
		}
		for i := range page.Items {
			if err := look(&page.Items[i]); err != nil {
				return err
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// uncordon lifts the cordons that Refit made, and only those: each has our annotation. It names the nodes.
func (c *Cluster) uncordon(ctx context.Context) ([]string, error) {
	var lifted []string
	err := c.eachNode(ctx, func(node *corev1.Node) error {
		if node.Annotations[refitv1alpha1.AnnotationCordonedBy] == "" {
			return nil
		}
		lifted = append(lifted, node.Name)
		return c.liftCordon(ctx, node)
	})
	return lifted, err
}

// liftCordon changes the very Node that was looked at, so that nobody else's cordon is lifted.
func (c *Cluster) liftCordon(ctx context.Context, node *corev1.Node) error {
	for n := 0; ; n++ {
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": node.ResourceVersion, "annotations": map[string]any{refitv1alpha1.AnnotationCordonedBy: nil}},
			"spec":     map[string]any{"unschedulable": nil},
		})
		if err != nil {
			return err
		}
		_, err = c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if apierrors.IsConflict(err) && n < conflicts { // its kubelet writes as well
			node, err = c.client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
			if err == nil && node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
				continue
			}
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("lifting a cordon: %w", err)
		}
		return nil
	}
}
