//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// protections are the annotations of a node that is being upgraded.
var protections = []string{
	refitv1alpha1.AnnotationScaleDownDisabled, refitv1alpha1.AnnotationDoNotDisrupt,
	refitv1alpha1.AnnotationProtectedBy, refitv1alpha1.AnnotationProtectedWith,
}

// TestUpgradeAutoscaled upgrades a cluster to which an autoscaler adds a worker of the old version
// that does not become ready. It uses no slot of maxUnavailable, and the upgrade ends without it.
// Autoscalers are kept off the worker that is drained, and off none afterwards.
func TestUpgradeAutoscaled(t *testing.T) {
	c := newTrio(t, "upscale")
	c.budgetHolds(t)
	o := c.ask(t, "autoscaled", neverWaived)
	o.does(t, "shop/never")
	active, err := c.Client.CoreV1().Nodes().Get(t.Context(), c.atWork(t, o).Name(), metav1.GetOptions{})
	must(t, err)
	for _, name := range protections {
		if active.Annotations[name] == "" {
			t.Errorf("%s is drained without %s: %v", active.Name, name, active.Annotations)
		}
	}
	joining := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "joining", Labels: map[string]string{corev1.LabelOSStable: "linux", corev1.LabelHostname: "joining"}},
		Status:     corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: older, ContainerRuntimeVersion: "containerd://2.4.2", OperatingSystem: "linux"}},
	}
	_, err = c.Client.CoreV1().Nodes().Create(t.Context(), joining, metav1.CreateOptions{})
	must(t, err)
	c.budgetGone(t)
	ended := o.reaches(t, refitv1alpha1.PhaseSucceeded)
	must(t, mentions(ended.Status.Message, "1 node joined during the upgrade and could not be upgraded: joining"))
	c.NoCordonLeft(t)
	c.noProtectionLeft(t)
	must(t, c.Client.CoreV1().Nodes().Delete(t.Context(), joining.Name, metav1.DeleteOptions{}))
	c.isAt(t, c.r)
}

// noProtectionLeft waits until autoscalers may remove every node.
func (s *site) noProtectionLeft(t *testing.T) {
	t.Helper()
	must(t, until(t.Context(), "autoscalers to be free", checkTimeout, func(ctx context.Context) error {
		nodes, err := s.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var errs []error
		for _, n := range nodes.Items {
			for _, name := range protections {
				if value, left := n.Annotations[name]; left {
					errs = append(errs, fmt.Errorf("%s has %s=%s", n.Name, name, value))
				}
			}
		}
		return errors.Join(errs...)
	}))
}
