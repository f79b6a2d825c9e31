package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

func newExplainCommand(a *app) *cobra.Command {
	var k kubeconfig
	var f format
	cmd := &cobra.Command{
		Use:   "explain NODE",
		Short: "Tell why a node waits, is at work, was skipped or failed",
		Long: `Tells why a node is where it is in an upgrade: what holds up its drain, which step its agent is at
and for how long, what it is waiting for, or why it failed, with the end of the log and what to do.`,
		Example: a.example("explain worker-3", "explain worker-3 -o json"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name one node, such as worker-3")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			o, err := a.operations(cmd.Context(), &k)
			if err != nil {
				return err
			}
			known, err := o.known(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			answer := progress.NewExplanation(o.cluster, a.name, known)
			if f.output != formatText {
				return f.print(a, answer)
			}
			return a.write([]byte(text.Explain(answer, a.page(false), a.now())))
		},
	}
	k.addFlags(cmd)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

// known reads what is known of a node.
func (o *operations) known(ctx context.Context, name string) (progress.Known, error) {
	k := progress.Known{}
	all, err := o.all(ctx)
	if err != nil {
		return k, err
	}
	for i := range all { // the one that acts, or else the last one
		k.Operation = &all[i]
		if !all[i].HasEnded() {
			break
		}
	}
	key := client.ObjectKey{Name: name}
	node := &corev1.Node{}
	if err := o.Get(ctx, key, node); err != nil {
		if apierrors.IsNotFound(err) {
			return k, fmt.Errorf("there is no node %s in %s", name, o.cluster)
		}
		return k, fmt.Errorf("the node cannot be read: %w", err)
	}
	k.Node = nodeOf(node)
	order, report := &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}
	switch err := o.Get(ctx, key, order); {
	case err == nil:
		k.Order = order
	case !apierrors.IsNotFound(err):
		return k, fmt.Errorf("the work on the node cannot be read: %w", err)
	}
	switch err := o.Get(ctx, key, report); {
	case err == nil:
		k.Report = report
	case !apierrors.IsNotFound(err):
		return k, fmt.Errorf("what the node's agent tells cannot be read: %w", err)
	}
	return k, nil
}

const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

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
