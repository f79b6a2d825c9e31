//go:build e2e

package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// newerFormat writes an order in a format that this agent does not support.
func newerFormat(f fault) {
	t, s := f.t, f.s
	s.again(t)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply), func(o *refitv1alpha1.NodeUpgradeSpec) { o.Format = refitv1alpha1.MaxOrderFormat + 1 })
	s.b.refused(t, s.n, "FormatUnknown")
	s.untouched(t)
	s.b.order(t, s.n, func(o *refitv1alpha1.NodeUpgradeSpec) { o.Format = refitv1alpha1.MinOrderFormat })
	s.succeeds(t)
}

// etcdRestored takes a backup of etcd, lets the node change by a later order, and restores the
// backup: the cluster then holds an old order, which the host must refuse.
func etcdRestored(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	cp := s.b.First(cluster.RoleControlPlane)
	s.b.accepted(t, s.n, permit(refitv1alpha1.PermitHold))
	must(t, s.b.BackUpEtcd(t.Context(), cp))
	s.b.apply(t, s.n)
	s.succeeds(t)
	accepted := s.b.orders[s.n.Name()].Sequence
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)

	must(t, s.b.RestoreEtcd(t.Context(), cp))
	must(t, s.b.WaitRecovered(t.Context(), recovery))
	s.b.refused(t, s.n, "StaleSequence")
	now, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	must(t, now.Differences(is))
	must(t, s.b.waitReport(t.Context(), s.n, func(r *refitv1alpha1.NodeReport) bool { return r.Status.AcceptedSequence == accepted }))

	// The accepted sequence is in the report, so that new orders can continue from it.
	s.b.orders[s.n.Name()].Sequence = accepted
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	s.succeeds(t)
}

// upgradeOf reads a node's NodeUpgrade.
func (b *agents) upgradeOf(ctx context.Context, n *cluster.Node) (*refitv1alpha1.NodeUpgrade, error) {
	return bed.Get[refitv1alpha1.NodeUpgrade](ctx, b.Bed, bed.NodeUpgrades, n.Name())
}

// replacedInChange replaces the kubelet binary during the change, as an administrator or a package
// manager would.
func replacedInChange(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.standAt(t, "swap-kubelet/swap-kubelet:before")
	foreign := replaceKubelet(t, s)
	must(t, goOn(t.Context(), s.n))
	status := s.b.mustPhase(t, s.n, changing, refitv1alpha1.NodeRolledBack) // earlier changes are rolled back, the replaced kubelet stays
	if status.Error == nil || status.Error.Reason != "ChangedByOthers" {
		t.Errorf("it is not told that somebody else changed the program: %+v", status.Error)
	}
	s.keepsForeign(t, foreign)
	must(t, s.b.NodeAt(t.Context(), s.n, s.b.Spec().Kubernetes)) // the running kubelet was not replaced
}

// replacedAfterChange replaces the kubelet binary after a successful upgrade and before the next
// one.
func replacedAfterChange(f fault) {
	t, s := f.t, f.s
	s.fetched(t)
	s.b.apply(t, s.n)
	s.succeeds(t)
	foreign := replaceKubelet(t, s)
	// The same files in another release: its steps start from the beginning.
	p := s.r.Payload
	p.Files = append(p.Files[:0:0], p.Files...)
	r := s.b.signed(t, fmt.Sprintf("again-%d", time.Now().Unix()), without(p, refitv1alpha1.PartCNI, refitv1alpha1.PartContainerd), s.b.Key)
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply), to(r))
	s.failsWith(t, changing, "ChangedByOthers")
	s.keepsForeign(t, foreign)
}

// replaceKubelet installs a different kubelet binary and returns its digest.
func replaceKubelet(t *testing.T, s *scene) string {
	t.Helper()
	for _, argv := range [][]string{
		{"cp", "/usr/local/bin/kubelet", "/root/kubelet"},
		{"dd", "if=/dev/zero", "of=/root/kubelet", "bs=1", "count=1", "oflag=append", "conv=notrunc"},
		{"mv", "/root/kubelet", "/usr/local/bin/kubelet"},
	} {
		_, err := s.n.Exec(t.Context(), argv...)
		must(t, err)
	}
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	return is["/usr/local/bin/kubelet"]
}

func (s *scene) keepsForeign(t *testing.T, digest string) {
	t.Helper()
	is, err := bed.StateOf(t.Context(), s.n)
	must(t, err)
	if is["/usr/local/bin/kubelet"] != digest {
		t.Error("what somebody else put there was overwritten")
	}
}
