package operations

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// Node reads the known facts of a node.
func (c *Cluster) Node(ctx context.Context, name string) (progress.Known, error) {
	var known progress.Known
	all, err := c.List(ctx)
	if err != nil {
		return known, err
	}
	known.Operation = ActiveOrLast(all)
	node, order, report := &corev1.Node{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}
	found, err := c.find(ctx, name, node)
	switch {
	case err != nil:
		return known, fmt.Errorf("cannot get the Node: %w", err)
	case !found:
		return known, fmt.Errorf("node %s not found in %s", name, c.Name)
	}
	known.Node = nodeOf(node)
	if found, err = c.find(ctx, name, order); err != nil {
		return known, fmt.Errorf("cannot get the NodeUpgrade: %w", err)
	} else if found {
		known.Order = order
	}
	if found, err = c.find(ctx, name, report); err != nil {
		return known, fmt.Errorf("cannot get the NodeReport: %w", err)
	} else if found {
		known.Report = report
	}
	return known, nil
}

// ActiveOrLast returns the operation in progress, or else the last one, or nil. The operations are
// passed oldest first.
func ActiveOrLast(all []refitv1alpha1.ClusterUpgrade) *refitv1alpha1.ClusterUpgrade {
	for i := range all {
		if !all[i].HasEnded() {
			return &all[i]
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// LacksNode reports whether a node is known not to exist. It is false if the user may not read it.
func (c *Cluster) LacksNode(ctx context.Context, name string) bool {
	found, err := c.find(ctx, name, &corev1.Node{})
	return err == nil && !found
}

// find reads an object that may not exist.
func (c *Cluster) find(ctx context.Context, name string, into client.Object) (found bool, err error) {
	err = c.Client.Get(ctx, client.ObjectKey{Name: name}, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// nodeOf returns what an explanation needs of a Node.
func nodeOf(n *corev1.Node) progress.Node {
	_, controlPlane := n.Labels[controlPlaneLabel]
	out := progress.Node{
		Name: n.Name, Labels: n.Labels, ControlPlane: controlPlane, Kubelet: n.Status.NodeInfo.KubeletVersion, OS: n.Status.NodeInfo.OperatingSystem,
		Cordoned: n.Spec.Unschedulable, CordonedBy: n.Annotations[refitv1alpha1.AnnotationCordonedBy],
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			out.Ready, out.ReadySince, out.ReadyMessage = c.Status == corev1.ConditionTrue, c.LastTransitionTime.UTC(), c.Message
		}
	}
	return out
}
