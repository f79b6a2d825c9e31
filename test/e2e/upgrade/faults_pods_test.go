//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// bareFoundBefore requests an upgrade without the waiver: the upgrade does not start.
func bareFoundBefore(s scene) {
	t, c := s.t, s.trio
	told := c.Refused(t, exitBlocked, "upgrade", "--to", newer, "--yes")
	must(t, mentions(told, "UnmanagedPod"))
	must(t, mentions(told, "shop/debug"))
	list, err := c.Kubectl(t.Context(), nil, "get", "clusterupgrades", "--output=name")
	must(t, err)
	if len(list) > 0 {
		t.Errorf("something was begun: %s", list)
	}
}

// networkBroken has a control plane node that becomes Ready but on which no Pod gets a network, as
// after a broken update of the CNI plugins. Ready is not sufficient: Refit probes the node with a
// Pod. The operation is left waiting, blocked by a webhook.
func networkBroken(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "control-plane", func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.Scope = refitv1alpha1.ScopeControlPlane })
	c.AwaitStep(t, c.controlPlane, "swap-kubelet")
	const plugin, away = "/opt/cni/bin/host-local", "/root/host-local"
	_, err := c.controlPlane.Exec(t.Context(), "mv", plugin, away)
	must(t, err)
	o.does(t, "Pod on "+c.controlPlane.Name(), "host-local")
	c.explains(t, c.controlPlane, "host-local")
	c.apply(t, refusing)
	_, err = c.controlPlane.Exec(t.Context(), "mv", away, plugin)
	must(t, err)
}

// waived waives a finding that the fault itself causes.
func waived(check, object string) change {
	return func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.Waivers = append(spec.Waivers, refitv1alpha1.Waiver{Check: check, Object: object, Reason: "to see what happens"})
	}
}

// neverWaived waives the finding about the PDB that never allows disruptions.
var neverWaived = waived("BudgetNeverAllows", "")

// twoBudgets adds a second PDB for the pods of the shop's Deployment: the API server then evicts
// none of them.
func twoBudgets(s scene) {
	t, c := s.t, s.trio
	const second = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: second, namespace: shop},
		spec: {maxUnavailable: 1, selector: {matchLabels: {app: cart}}}}`
	c.apply(t, second)
	o := c.ask(t, "two-budgets", workersOnly, waived("BudgetsOverlap", ""))
	o.does(t, "shop/cart-", "both select it")
	c.explains(t, c.atWork(t, o), "both select it")
	c.ends(t, o)
	c.delete(t, second)
}

// stuckFinalizer has a pod that does not terminate because of a finalizer.
func stuckFinalizer(s scene) {
	t, c := s.t, s.trio
	c.apply(t, c.podOf("held", `finalizers: [example.com/hold], `))
	o := c.ask(t, "finalizer", only(c.first), waived("UnmanagedPod", "Pod shop/held"))
	o.does(t, c.first.Name(), "shop/held", "example.com/hold")
	c.explains(t, c.first, "shop/held", "example.com/hold")
	c.ends(t, o)
	_, err := c.Kubectl(t.Context(), nil, "--namespace=shop", "patch", "pod", "held", "--type=merge", "--patch", `{"metadata":{"finalizers":null}}`)
	must(t, err)
}

// bareComes creates a pod without a controller after the checks, while a PDB blocks the drain.
func bareComes(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "bare", only(c.first), neverWaived)
	o.does(t, c.first.Name(), "shop/never")
	late := c.podOf("late", "")
	c.apply(t, late)
	c.budgetGone(t)
	o.does(t, c.first.Name(), "shop/late")
	c.explains(t, c.first, "shop/late")
	c.ends(t, o)
	c.delete(t, late)
}

// atWork returns the active node of the operation.
func (c *trio) atWork(t *testing.T, o *operation) *cluster.Node {
	t.Helper()
	n, err := c.Node(o.waits(t, "a node to be at work", whole, atWork).Status.Active[0])
	must(t, err)
	return n
}

// podOf returns a Pod on the first worker without an owner.
func (c *trio) podOf(name, metadata string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {%sname: %s, namespace: shop}, spec: {nodeName: %s, terminationGracePeriodSeconds: 1,
		containers: [{name: main, image: %q, imagePullPolicy: Never, command: [sleep, "3600"]}]}}`, metadata, name, c.first.Name(), versions.BusyboxImage)
}

// uncordoned uncordons the worker that is being drained. Refit must cordon it again.
func uncordoned(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "uncordoned", only(c.first), neverWaived)
	o.does(t, "shop/never")
	_, err := c.Kubectl(t.Context(), nil, "uncordon", c.first.Name())
	must(t, err)
	must(t, until(t.Context(), "our cordon to be there again", checkTimeout, func(ctx context.Context) error {
		n, err := c.Client.CoreV1().Nodes().Get(ctx, c.first.Name(), metav1.GetOptions{})
		if err == nil && (!n.Spec.Unschedulable || n.Annotations[refitv1alpha1.AnnotationCordonedBy] == "") {
			err = errors.New("it is not cordoned by us")
		}
		return err
	}))
	c.ends(t, o)
	c.budgetGone(t)
}

// budgetNeverAllows has a PDB that allows no disruptions until it is changed.
func budgetNeverAllows(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	must(t, mentions(c.Refused(t, exitBlocked, append([]string{"check", "--to", newer}, waiveBare...)...), "shop/never"))
	o := c.ask(t, "budget", only(c.last), neverWaived)
	o.does(t, "shop/never")
	c.explains(t, c.last, "shop/never")
	c.budgetGone(t)
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t)
}
