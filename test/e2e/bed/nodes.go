package bed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// AwaitApplying waits until a node's agent changes its host.
func (s *Site) AwaitApplying(t *testing.T, n *cluster.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Whole)
	defer cancel()
	Must(t, Follow(ctx, s.Bed, NodeUpgrades, n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		return u.Status.Phase == refitv1alpha1.NodeApplying && u.Status.ObservedSequence == u.Spec.Sequence
	}))
}

// AwaitStep waits until a node's agent has reached a step of its last order.
func (s *Site) AwaitStep(t *testing.T, n *cluster.Node, step string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Whole)
	defer cancel()
	Must(t, Follow(ctx, s.Bed, NodeUpgrades, n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		reached := func(s refitv1alpha1.StepStatus) bool { return s.Name == step }
		return u.Status.ObservedSequence == u.Spec.Sequence && slices.ContainsFunc(u.Status.Steps, reached)
	}))
}

// NoCordonLeft waits until no node has a cordon of Refit, nor any cordon except those of the
// foreign nodes.
func (s *Site) NoCordonLeft(t *testing.T, foreign ...string) {
	t.Helper()
	Must(t, Until(t.Context(), "our cordons to be lifted", CheckTimeout, func(ctx context.Context) error {
		nodes, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var errs []error
		kept := map[string]bool{}
		for _, name := range foreign {
			kept[name] = true
		}
		for _, n := range nodes.Items {
			if by, marked := n.Annotations[refitv1alpha1.AnnotationCordonedBy]; marked {
				errs = append(errs, fmt.Errorf("%s has the mark of operation %s", n.Name, by))
			}
			if n.Spec.Unschedulable != kept[n.Name] {
				errs = append(errs, fmt.Errorf("%s is cordoned: %t", n.Name, n.Spec.Unschedulable))
			}
		}
		return errors.Join(errs...)
	}))
}
