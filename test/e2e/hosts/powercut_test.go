//go:build e2e

package hosts

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// offTime is how long the node is off: longer than the cluster takes to notice it.
const offTime = time.Minute

// TestVirtualIPPowerCut cuts the power of the holder while another control plane node is upgraded.
// The address moves, the operation waits for the node, and continues once it is back.
func TestVirtualIPPowerCut(t *testing.T) {
	s := virtualIP{spec: cluster.Spec{Name: "vipcut", VIP: cluster.VIPKeepalived}}.create(t)
	r := s.CreateRelease(t, bed.Newer)
	up := s.Upgrade(t, bed.Newer)
	first := firstTurn(t, s)
	s.AwaitStep(t, first, "swap-kubelet") // etcd on it is replaced: from here on another member may fail
	holder, err := holderOf(t.Context(), s)
	bed.Must(t, err)
	if holder.Name() == first.Name() {
		t.Fatalf("%s holds the virtual IP and is upgraded first", first.Name())
	}
	cut := time.Now()
	bed.Must(t, holder.Kill(t.Context()))
	bed.Must(t, bed.Until(t.Context(), "the API to answer at the address", bed.CheckTimeout, func(ctx context.Context) error {
		ctx, cancel := bed.Soon(ctx)
		defer cancel()
		_, err := s.Client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		return err
	}))
	bed.Show(t, "vip_power_cut_failover", time.Since(cut).Seconds(), "s")
	time.Sleep(offTime - time.Since(cut))
	now, err := holderOf(t.Context(), s)
	bed.Must(t, err)
	t.Logf("the virtual IP moved from %s to %s", holder.Name(), now.Name())
	bed.Must(t, holder.Start(t.Context()))
	up.Wait(t, bed.Whole, bed.ExitDone)
	bed.Show(t, "vip_power_cut_upgrade", time.Since(up.Started).Seconds(), "s")
	bed.Must(t, s.RecordRelease(r.Parts))
	s.IsAt(t, r)
	s.NoCordonLeft(t)
}

// firstTurn waits until a control plane node is upgraded, and returns it.
func firstTurn(t *testing.T, s *bed.Site) *cluster.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bed.Whole)
	defer cancel()
	var name string
	bed.Must(t, bed.Follow(ctx, s.Bed, bed.Operations, "to-v1-36-3", func(u *refitv1alpha1.ClusterUpgrade) bool {
		if len(u.Status.Active) == 0 {
			return false
		}
		name = u.Status.Active[0]
		return true
	}))
	n, err := s.Node(name)
	bed.Must(t, err)
	return n
}
