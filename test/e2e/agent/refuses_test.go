//go:build e2e

package agent

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentRefuses writes orders that a node must not execute, each valid in every other respect:
// the host stays unchanged, and the agent reports why.
func TestAgentRefuses(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "arefuse", Workers: 1, Kubernetes: newer})
	n := b.First(cluster.RoleWorker)
	r, low := b.CreateRelease(t, newest), b.CreateRelease(t, older)
	was, err := bed.StateOf(t.Context(), n)
	must(t, err)
	other := bed.NewKey(t, b.Binaries)
	forged := b.signed(t, "forged", r.Payload, other)
	changed := b.changedByte(t, r)

	// An accepted order first, so that there is a previous sequence.
	b.accepted(t, n, permit(refitv1alpha1.PermitHold), to(r), func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence, o.Epoch = 10, 5 })
	for _, c := range []struct {
		name, reason string
		recreate     bool // delete and recreate the object, because the API server itself rejects the change
		change       change
	}{
		{"a release that another key signed", "ReleaseRefused", false, to(forged)},
		{"a release with one byte changed", "ReleaseRefused", false, to(changed)},
		{"a release whose digest is not the ordered one", "ReleaseRefused", false, func(o *refitv1alpha1.NodeUpgradeSpec) {
			o.Release = refitv1alpha1.ReleaseRef{Name: r.Ref.Name, Digest: low.Ref.Digest}
		}},
		{"a lower version", "Downgrade", false, to(low)},
		{"another machine", "OtherMachine", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.MachineID = "00000000000000000000000000000001" }},
		{"another node of the same name", "OtherMachine", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.NodeUID = "6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e91" }},
		{"another role", "OtherMachine", false, as(refitv1alpha1.RoleControlPlane)},
		{"a newer format", "FormatUnknown", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Format = refitv1alpha1.MaxOrderFormat + 1 }},
		{"an order from the past", "StaleSequence", true, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence = 9 }},
		{"an order of a deposed leader", "StaleEpoch", true, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence, o.Epoch = 1000, 4 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := *b.orders[n.Name()]
			if c.recreate {
				must(t, b.Objects.Resource(bed.NodeUpgrades).Delete(t.Context(), n.Name(), metav1.DeleteOptions{}))
			}
			bad := b.order(t, n, permit(refitv1alpha1.PermitApply), to(r), c.change)
			b.refused(t, n, c.reason)
			is, err := bed.StateOf(t.Context(), n)
			must(t, err)
			must(t, is.Differences(was))
			if c.recreate {
				must(t, b.Objects.Resource(bed.NodeUpgrades).Delete(t.Context(), n.Name(), metav1.DeleteOptions{}))
			}
			good.Sequence = max(good.Sequence, bad)
			b.orders[n.Name()] = &good
			b.accepted(t, n) // so that the next refusal is a new one
		})
	}
	t.Run("a lower sequence in place", func(t *testing.T) {
		good := *b.orders[n.Name()]
		if _, err := b.tryOrder(t.Context(), n, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence = good.Sequence - 1 }); !apierrors.IsInvalid(err) {
			t.Errorf("the API server took a lower sequence: %v", err)
		}
	})
}

// accepted writes an order and waits until it is accepted.
func (b *agents) accepted(t *testing.T, n *cluster.Node, changes ...change) {
	t.Helper()
	sequence := b.order(t, n, changes...)
	must(t, until(t.Context(), "an order to be accepted", checkTimeout, func(ctx context.Context) error {
		u, err := b.upgradeOf(ctx, n)
		if err == nil && (u.Status.ObservedSequence != sequence || len(u.Status.Conditions) > 0) {
			err = fmt.Errorf("it is %s, %v", tell(u.Status), u.Status.Conditions)
		}
		return err
	}))
}

// changedByte returns a release whose payload was modified after it was signed.
func (b *agents) changedByte(t *testing.T, r *bed.Release) *bed.Release {
	t.Helper()
	signed := b.signed(t, "whole", r.Payload, b.Key)
	whole, err := bed.Get[refitv1alpha1.ClusterRelease](t.Context(), b.Bed, bed.Releases, signed.Ref.Name)
	must(t, err)
	envelope := bytes.Clone(whole.Spec.Envelope)
	at := bytes.Index(envelope, []byte(`"payload":"`)) + 200
	if envelope[at] == 'A' {
		envelope[at] = 'B'
	} else {
		envelope[at] = 'A'
	}
	must(t, b.writeRelease(t.Context(), "changed", r.Payload.Kubernetes, envelope))
	return &bed.Release{Ref: refitv1alpha1.ReleaseRef{Name: "changed", Digest: signed.Ref.Digest}, Payload: r.Payload, Parts: r.Parts}
}
