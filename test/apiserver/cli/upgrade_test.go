//go:build apiserver

package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// lead creates a Lease that another process holds.
func (b *bed) lead(t *testing.T) {
	t.Helper()
	if err := b.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-system"}}); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	holder, now, seconds := "refit-controller-abc_1234", metav1.NowMicro(), int32(15)
	must(t, b.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "refit-system", Name: "refit-controller"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now, AcquireTime: &now, LeaseDurationSeconds: &seconds},
	}))
	t.Cleanup(func() {
		must(t, b.Delete(context.WithoutCancel(t.Context()), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "refit-system", Name: "refit-controller"}}))
	})
}

func (b *bed) nothingWasBegun(t *testing.T) {
	t.Helper()
	var all refitv1alpha1.ClusterUpgradeList
	must(t, b.List(t.Context(), &all))
	if len(all.Items) > 0 {
		t.Errorf("there are %d operations", len(all.Items))
	}
}

func TestUpgradeThatCannotStart(t *testing.T) {
	b := newBed(t)
	b.node(t, "cp-1", func(n *corev1.Node) { n.Labels["node-role.kubernetes.io/control-plane"] = "" })
	b.refit(t, "upgrade", "--to", "v1.37.1").want(t, 2, "use --yes")
	b.refit(t, "upgrade", "--yes", "--to", "v1.37.1").want(t, 1, "there are no controllers", "refit install", "--standalone")
	b.lead(t)
	b.refit(t, "upgrade", "--yes", "--to", "v1.30.0").want(t, 2, "does not support a downgrade to v1.30.0")
	b.nothingWasBegun(t)
}

// TestUpgradeThatIsBlocked has no agents: the plan can be shown without them, but the upgrade does
// not start.
func TestUpgradeThatIsBlocked(t *testing.T) {
	b := newBed(t)
	b.lead(t)
	b.node(t, "cp-1", func(n *corev1.Node) {
		n.Labels["node-role.kubernetes.io/control-plane"], n.Status.NodeInfo.KubeletVersion = "", "v1.36.3"
	})
	b.refit(t, "upgrade", "--yes", "--to", "v1.37.1").want(t, 3, "findings block", "no agent yet on 1 of 1 node")
	b.nothingWasBegun(t)
}

// TestUpgradeInProgress repeats the command: it follows the upgrade and does not start a second
// one. Pools that differ are refused, not dropped.
func TestUpgradeInProgress(t *testing.T) {
	b := newBed(t)
	u := b.operation(t, "by-hand")
	b.refit(t, "upgrade", "--to", "v1.36.3", "--max-unavailable", "7").want(t, 2, "in progress with other pools", "refit set pool")
	r := b.start(t, "upgrade", "--to", "v1.36.3")
	r.until(t, "Operation by-hand: upgrade of test from v1.35.4 to v1.36.3")
	b.status(t, "by-hand", ended(refitv1alpha1.PhaseSucceeded))
	r.wait(t).want(t, 0, "by-hand has the same target and is in progress since "+u.CreationTimestamp.UTC().Format("2006-01-02"), "Succeeded")
	if got := b.get(t, "by-hand"); got.Generation != u.Generation {
		t.Error("its spec was changed")
	}
}

// TestStandaloneInterrupted interrupts a command that runs the controllers: they stop, the Lease is
// released, and the output contains the command to resume.
func TestStandaloneInterrupted(t *testing.T) {
	b := newBed(t)
	b.node(t, "cp-1", func(n *corev1.Node) { n.Labels["node-role.kubernetes.io/control-plane"] = "" })
	b.operation(t, "op")
	if err := b.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-system"}}); !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	log := filepath.Join(t.TempDir(), "log")
	r := b.start(t, "upgrade", "--to", "v1.36.3", "--standalone", "--log", log)
	r.until(t, "Operation op")
	for end := time.Now().Add(checkTimeout); b.get(t, "op").Status.Epoch == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody took the operation on:\n%s", r.said())
		}
	}
	must(t, r.Process.Signal(os.Interrupt))
	r.wait(t).want(t, 130, "op does not proceed: nothing further starts.", "To continue: refit upgrade --to v1.36.3 --standalone")
	lease := &coordinationv1.Lease{}
	must(t, b.Get(t.Context(), client.ObjectKey{Namespace: "refit-system", Name: "refit-controller"}, lease))
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		t.Errorf("%s still holds the Lease", *lease.Spec.HolderIdentity)
	}
	if said, err := os.ReadFile(log); err != nil || len(said) == 0 {
		t.Errorf("the controllers logged nothing: %v", err)
	}
	must(t, b.Delete(t.Context(), lease))
	u := b.get(t, "op")
	u.Finalizers = nil // no controller is left to remove it
	must(t, b.Update(t.Context(), u))
}
