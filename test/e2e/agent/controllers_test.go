//go:build e2e

package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentControllers runs the controllers against a cluster of two nodes and upgrades it with one
// ClusterUpgrade. The only API server is unavailable during its own upgrade.
func TestAgentControllers(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "actl", Workers: 1, Kubernetes: older})
	r := b.CreateRelease(t, newer)
	b.runControllers(t)
	begun := time.Now()
	b.ask(t, refitv1alpha1.ClusterUpgradeSpec{
		Target: refitv1alpha1.Target{Kubernetes: newer}, Approval: refitv1alpha1.ApprovalNone,
		Waivers: []refitv1alpha1.Waiver{
			{Check: "UnmanagedPod", Reason: "the smoke test leaves its client"}, {Check: "BackupProven", Reason: "the cluster has no BackupStore"},
		},
	})
	said := ""
	ctx, cancel := context.WithTimeout(t.Context(), 3*changing)
	defer cancel()
	must(t, bed.Follow(ctx, b.Bed, bed.Operations, operationName, func(u *refitv1alpha1.ClusterUpgrade) bool {
		if now := string(u.Status.Phase) + ": " + u.Status.Message; now != said {
			said = now
			t.Logf("%6.1f s  %s", time.Since(begun).Seconds(), said)
		}
		return u.Status.Phase == refitv1alpha1.PhaseSucceeded
	}))
	show(t, "agent_controllers_1_1", time.Since(begun).Seconds(), "s")
	b.IsAt(t, r)
	for _, n := range b.Nodes() {
		found, err := b.Client.CoreV1().Nodes().Get(t.Context(), n.Name(), metav1.GetOptions{})
		must(t, err)
		if _, marked := found.Annotations[refitv1alpha1.AnnotationCordonedBy]; marked || found.Spec.Unschedulable {
			t.Errorf("%s was left cordoned", n.Name())
		}
	}
}

const operationName = "controllers"

// ask creates a ClusterUpgrade.
func (b *agents) ask(t *testing.T, spec refitv1alpha1.ClusterUpgradeSpec) {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&refitv1alpha1.ClusterUpgrade{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ClusterUpgrade"},
		ObjectMeta: metav1.ObjectMeta{Name: operationName}, Spec: spec,
	})
	must(t, err)
	_, err = b.Objects.Resource(bed.Operations).Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	must(t, err)
}

// runControllers runs the controllers on this machine until the test ends.
func (b *agents) runControllers(t *testing.T) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-system"}} // holds their Lease
	_, err := b.Client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, b.Controller, "--metrics-address=0", "--health-address=0")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+b.KubeconfigFile())
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	must(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
