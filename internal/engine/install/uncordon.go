package install

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const nodesPerPage = 250

// eachNode calls visit with every node.
func (c *Cluster) eachNode(ctx context.Context, visit func(*corev1.Node) error) error {
	options := metav1.ListOptions{Limit: nodesPerPage}
	for {
		page, err := c.client.CoreV1().Nodes().List(ctx, options)
		if err != nil {
			return fmt.Errorf("cannot list nodes: %w", err)
		}
		for i := range page.Items {
			if err := visit(&page.Items[i]); err != nil {
				return err
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// uncordon uncordons the nodes that Refit cordoned, which have its annotation, and lets autoscalers
// remove them again. It returns the names of those that were cordoned.
func (c *Cluster) uncordon(ctx context.Context) ([]string, error) {
	var uncordoned []string
	err := c.eachNode(ctx, func(node *corev1.Node) error {
		if !marked(node) {
			return nil
		}
		if node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
			uncordoned = append(uncordoned, node.Name)
		}
		return c.unmarkNode(ctx, node)
	})
	return uncordoned, err
}

func marked(node *corev1.Node) bool {
	return node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" || node.Annotations[refitv1alpha1.AnnotationProtectedBy] != ""
}

// unmarkNode updates the Node at its resource version, so that it never removes another cordon.
func (c *Cluster) unmarkNode(ctx context.Context, node *corev1.Node) error {
	for n := 0; ; n++ {
		patch, err := unmarkPatch(node)
		if err != nil {
			return err
		}
		_, err = c.client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if apierrors.IsConflict(err) && n < maxConflicts { // its kubelet writes it, too
			node, err = c.client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
			if err == nil && marked(node) {
				continue
			}
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("cannot uncordon node %s: %w", node.Name, err)
		}
		return nil
	}
}

// unmarkPatch removes Refit's cordon and what it added to keep autoscalers off.
func unmarkPatch(node *corev1.Node) ([]byte, error) {
	after := maps.Clone(node.Annotations)
	cluster.Unprotect(after)
	delete(after, refitv1alpha1.AnnotationCordonedBy)
	removed := map[string]any{}
	for name := range node.Annotations {
		if _, kept := after[name]; !kept {
			removed[name] = nil
		}
	}
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": node.ResourceVersion, "annotations": removed}}
	if node.Annotations[refitv1alpha1.AnnotationCordonedBy] != "" {
		patch["spec"] = map[string]any{"unschedulable": nil}
	}
	return json.Marshal(patch)
}
