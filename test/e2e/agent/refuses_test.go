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
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestAgentRefuses gives a node orders that it must not carry out, each otherwise in order: the host stays as it is, and the agent says why.
func TestAgentRefuses(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "arefuse", Workers: 1, Kubernetes: newer})
	n := b.first(cluster.RoleWorker)
	r, low := b.release(t, newest), b.release(t, older)
	was, err := stateOf(t.Context(), n)
	must(t, err)
	other := newKey(t, b.programs)
	forged := b.signed(t, "forged", r.payload, other)
	changed := b.changedByte(t, r)

	// An order that is accepted, so that there is a past.
	b.accepted(t, n, permit(refitv1alpha1.PermitHold), to(r), func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence, o.Epoch = 10, 5 })
	for _, c := range []struct {
		name, reason string
		anew         bool // the object is deleted and made again, since the API server itself refuses the change
		change       change
	}{
		{"a release that another key signed", "ReleaseRefused", false, to(forged)},
		{"a release with one byte changed", "ReleaseRefused", false, to(changed)},
		{"a release whose digest is not the ordered one", "ReleaseRefused", false, func(o *refitv1alpha1.NodeUpgradeSpec) {
			o.Release = refitv1alpha1.ReleaseRef{Name: r.ref.Name, Digest: low.ref.Digest}
		}},
		{"a lower version", "VersionLower", false, to(low)},
		{"another machine", "OtherMachine", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.MachineID = "00000000000000000000000000000001" }},
		{"another node of the same name", "OtherMachine", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.NodeUID = "6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e91" }},
		{"another role", "OtherMachine", false, as(refitv1alpha1.RoleControlPlane)},
		{"a newer format", "FormatUnknown", false, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Format++ }},
		{"an order from the past", "OrderFromThePast", true, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence = 9 }},
		{"an order of a deposed leader", "LeaderDeposed", true, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Sequence, o.Epoch = 1000, 4 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := *b.orders[n.Name()]
			if c.anew {
				must(t, b.objects.Resource(upgradesResource).Delete(t.Context(), n.Name(), metav1.DeleteOptions{}))
			}
			bad := b.order(t, n, permit(refitv1alpha1.PermitApply), to(r), c.change)
			b.refused(t, n, c.reason)
			is, err := stateOf(t.Context(), n)
			must(t, err)
			must(t, is.differences(was))
			if c.anew {
				must(t, b.objects.Resource(upgradesResource).Delete(t.Context(), n.Name(), metav1.DeleteOptions{}))
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

// accepted gives an order and waits until it is accepted.
func (b *bed) accepted(t *testing.T, n *cluster.Node, changes ...change) {
	t.Helper()
	sequence := b.order(t, n, changes...)
	must(t, until(t.Context(), "an order to be accepted", patience, func(ctx context.Context) error {
		u, err := b.upgradeOf(ctx, n)
		if err == nil && (u.Status.ObservedSequence != sequence || len(u.Status.Conditions) > 0) {
			err = fmt.Errorf("it is %s, %v", tell(u.Status), u.Status.Conditions)
		}
		return err
	}))
}

// changedByte is a release whose signed payload was changed afterwards.
func (b *bed) changedByte(t *testing.T, r *release) *release {
	t.Helper()
	signed := b.signed(t, "whole", r.payload, b.key)
	found, err := b.objects.Resource(releasesResource).Get(t.Context(), signed.ref.Name, metav1.GetOptions{})
	must(t, err)
	var whole refitv1alpha1.Release
	_, err = showTo(found, func(seen *refitv1alpha1.Release) bool { whole = *seen; return true })
	must(t, err)
	envelope := bytes.Clone(whole.Spec.Envelope)
	at := bytes.Index(envelope, []byte(`"payload":"`)) + 200
	if envelope[at] == 'A' {
		envelope[at] = 'B'
	} else {
		envelope[at] = 'A'
	}
	must(t, b.writeRelease(t.Context(), "changed", r.payload.Kubernetes, envelope))
	return &release{ref: refitv1alpha1.ReleaseRef{Name: "changed", Digest: signed.ref.Digest}, payload: r.payload, parts: r.parts}
}
