//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// change modifies an order relative to the previous one.
type change func(*refitv1alpha1.NodeUpgradeSpec)

func permit(p refitv1alpha1.Permit) change {
	return func(s *refitv1alpha1.NodeUpgradeSpec) { s.Permit = p }
}

func to(r *bed.Release) change {
	return func(s *refitv1alpha1.NodeUpgradeSpec) { s.Release = r.Ref }
}

func as(role refitv1alpha1.Role) change {
	return func(s *refitv1alpha1.NodeUpgradeSpec) { s.Role = role }
}

func retry(s *refitv1alpha1.NodeUpgradeSpec) { s.Attempt++ }

// order writes a node's order: the previous one with these changes and the next sequence. The API
// may be unreachable for a while.
func (b *agents) order(t *testing.T, n *cluster.Node, changes ...change) int64 {
	t.Helper()
	sequence, err := b.tryOrder(t.Context(), n, changes...)
	must(t, err)
	return sequence
}

func (b *agents) tryOrder(ctx context.Context, n *cluster.Node, changes ...change) (int64, error) {
	spec := b.orders[n.Name()]
	if spec == nil {
		var err error
		if spec, err = b.firstOrder(ctx, n); err != nil {
			return 0, err
		}
	}
	next := *spec
	next.Sequence++
	for _, c := range changes {
		c(&next)
	}
	if err := b.writeOrder(ctx, n.Name(), next); err != nil {
		return 0, fmt.Errorf("writing an order for %s: %w", n.Name(), err)
	}
	b.orders[n.Name()], b.ordered[n.Name()] = &next, time.Now().Truncate(time.Second)
	return next.Sequence, nil
}

// firstOrder sets the fields that never change. It reads the identity of the node from the API, as
// a controller does.
func (b *agents) firstOrder(ctx context.Context, n *cluster.Node) (*refitv1alpha1.NodeUpgradeSpec, error) {
	node, err := b.Client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	operation, err := b.operation(ctx)
	if err != nil {
		return nil, err
	}
	return &refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: operation,
		NodeUID: node.UID, MachineID: node.Status.NodeInfo.MachineID, Epoch: 1, Role: b.role(n), Rollback: refitv1alpha1.RollbackAuto,
	}, nil
}

// operation returns the ClusterUpgrade that permits the orders of these tests: every node is
// active, and every release lies on the path to its target.
func (b *agents) operation(ctx context.Context) (refitv1alpha1.Operation, error) {
	operations := b.Objects.Resource(bed.Operations)
	found, err := operations.Get(ctx, "e2e", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		found, err = operations.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": refitv1alpha1.GroupVersion.String(), "kind": "ClusterUpgrade", "metadata": map[string]any{"name": "e2e"},
			"spec": map[string]any{"approval": "None", "target": map[string]any{"kubernetes": "v1.99.0"}},
		}}, metav1.CreateOptions{})
	}
	if err != nil {
		return refitv1alpha1.Operation{}, err
	}
	var active []any
	for _, n := range b.Nodes() {
		active = append(active, n.Name())
	}
	if err := unstructured.SetNestedSlice(found.Object, active, "status", "active"); err != nil {
		return refitv1alpha1.Operation{}, err
	}
	_, err = operations.UpdateStatus(ctx, found, metav1.UpdateOptions{})
	return refitv1alpha1.Operation{Name: found.GetName(), UID: found.GetUID()}, err
}

// role returns the role of a node that upgrades in the usual order.
func (b *agents) role(n *cluster.Node) refitv1alpha1.Role {
	switch {
	case n.Role() == cluster.RoleWorker:
		return refitv1alpha1.RoleWorker
	case n.Name() == b.First(cluster.RoleControlPlane).Name():
		return refitv1alpha1.RoleFirstControlPlane
	}
	return refitv1alpha1.RoleControlPlane
}

// writeOrder creates or replaces the order. It does not retry a permanent rejection by the API
// server.
func (b *agents) writeOrder(ctx context.Context, name string, spec refitv1alpha1.NodeUpgradeSpec) error {
	var refused error
	err := until(ctx, "an order to be accepted", checkTimeout, func(ctx context.Context) error {
		ctx, cancel := soon(ctx)
		defer cancel()
		err := b.tryWriteOrder(ctx, name, spec)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			refused, err = err, nil
		}
		return err
	})
	return errors.Join(err, refused)
}

func (b *agents) tryWriteOrder(ctx context.Context, name string, spec refitv1alpha1.NodeUpgradeSpec) error {
	upgrades := b.Objects.Resource(bed.NodeUpgrades)
	wanted := refitv1alpha1.NodeUpgrade{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "NodeUpgrade"},
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec,
	}
	found, err := upgrades.Get(ctx, name, metav1.GetOptions{})
	absent := apierrors.IsNotFound(err)
	if err != nil && !absent {
		return err
	}
	if !absent {
		wanted.ResourceVersion = found.GetResourceVersion()
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&wanted)
	if err != nil {
		return err
	}
	delete(content, "status")
	if absent {
		_, err = upgrades.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		return err
	}
	_, err = upgrades.Update(ctx, &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{})
	return err
}

// final are the phases after which an agent does nothing more for an order.
var final = []refitv1alpha1.NodePhase{refitv1alpha1.NodeSucceeded, refitv1alpha1.NodeFailed, refitv1alpha1.NodeRolledBack}

// waitPhase waits until the agent's response to the node's last order is in one of these phases. It
// returns early if the agent ends in another final phase.
func (b *agents) waitPhase(ctx context.Context, n *cluster.Node, deadline time.Duration, wanted ...refitv1alpha1.NodePhase) (refitv1alpha1.NodeUpgradeStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	sequence := b.orders[n.Name()].Sequence
	var last refitv1alpha1.NodeUpgradeStatus
	var refusal error
	err := bed.Follow(ctx, b.Bed, bed.NodeUpgrades, n.Name(), func(u *refitv1alpha1.NodeUpgrade) bool {
		last = u.Status
		if last.ObservedSequence != sequence {
			refusal = b.refusal(n, last)
			return refusal != nil
		}
		return slices.Contains(wanted, last.Phase) || slices.Contains(final, last.Phase)
	})
	switch {
	case err == nil && refusal != nil:
		err = refusal
	case err == nil && !slices.Contains(wanted, last.Phase):
		err = errors.New("it ended otherwise")
	}
	if err != nil {
		return last, fmt.Errorf("%s is to be %s at order %d within %s, but is %s: %w", n.Name(), join(wanted), sequence, deadline, tell(last), err)
	}
	return last, nil
}

// refusal returns the reason why the agent does not accept the node's last order, if it was
// reported after that order was written.
func (b *agents) refusal(n *cluster.Node, s refitv1alpha1.NodeUpgradeStatus) error {
	for _, c := range s.Conditions {
		if c.Type == refitv1alpha1.ConditionAccepted && c.Status == metav1.ConditionFalse && !c.LastTransitionTime.Time.Before(b.ordered[n.Name()]) {
			return fmt.Errorf("the order was refused with %s: %s", c.Reason, c.Message)
		}
	}
	return nil
}

// mustPhase is waitPhase, but fails the test on error.
func (b *agents) mustPhase(t *testing.T, n *cluster.Node, deadline time.Duration, wanted ...refitv1alpha1.NodePhase) refitv1alpha1.NodeUpgradeStatus {
	t.Helper()
	status, err := b.waitPhase(t.Context(), n, deadline, wanted...)
	must(t, err)
	return status
}

// waitReport waits until the report of a node is as wanted.
func (b *agents) waitReport(ctx context.Context, n *cluster.Node, wanted func(*refitv1alpha1.NodeReport) bool) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := bed.Follow(ctx, b.Bed, bed.NodeReports, n.Name(), wanted); err != nil {
		return fmt.Errorf("the report of %s is not as wanted after %s: %w", n.Name(), checkTimeout, err)
	}
	return nil
}

// tell formats a status on one line.
func tell(s refitv1alpha1.NodeUpgradeStatus) string {
	text := fmt.Sprintf("%q at order %d, step %q", s.Phase, s.ObservedSequence, s.Step)
	if s.Error != nil {
		text += fmt.Sprintf("; %s %s in step %q: %s (%s)\n%s", s.Error.Class, s.Error.Reason, s.Error.Step, s.Error.Message, s.Error.Remedy, s.Error.LogTail)
	}
	return text
}

func join(phases []refitv1alpha1.NodePhase) string {
	var words []string
	for _, p := range phases {
		words = append(words, string(p))
	}
	return strings.Join(words, " or ")
}
