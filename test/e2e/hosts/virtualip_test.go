//go:build e2e

package hosts

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/sample"
)

const (
	// goal is the sum of the gaps through the address, in seconds, that an upgrade should not
	// exceed.
	goal = 2.0
	// limit is the sum that it must not exceed: the address moves once, and both keepalived and
	// kube-vip move it within five seconds of the failure of its API server.
	limit = 7.0
)

// virtualIP is a kind of cluster with a virtual IP.
type virtualIP struct {
	figure string
	spec   cluster.Spec
}

// TestVirtualIPKeepalived upgrades a cluster whose endpoint keepalived moves, with a check of the
// API server.
func TestVirtualIPKeepalived(t *testing.T) {
	virtualIP{"vip_keepalived", cluster.Spec{Name: "vipk", VIP: cluster.VIPKeepalived}}.upgrade(t)
}

// TestVirtualIPKeepalivedUnchecked upgrades a cluster whose endpoint stays on a node whose API
// server is down. Preflight predicts the outage.
func TestVirtualIPKeepalivedUnchecked(t *testing.T) {
	virtualIP{"vip_unchecked", cluster.Spec{Name: "vipu", VIP: cluster.VIPKeepalived, VIPUnchecked: true}}.upgrade(t)
}

// TestVirtualIPKubeVIP upgrades a cluster whose endpoint kube-vip moves, from static pods that read
// admin.conf at their start. The upgrade renews it.
func TestVirtualIPKubeVIP(t *testing.T) {
	virtualIP{"vip_kube_vip", cluster.Spec{Name: "vipv", VIP: cluster.VIPKubeVIP}}.upgrade(t)
}

// upgrade upgrades the cluster from this machine, which reaches the API only through the address.
func (k virtualIP) upgrade(t *testing.T) {
	t.Helper()
	s := k.create(t)
	r := s.CreateRelease(t, bed.Newer)
	for _, n := range s.OfRole(cluster.RoleControlPlane) {
		reportOf(t, s, n)
	}
	if predicted := strings.Contains(check(t, s), "VirtualIPUnchecked"); predicted != k.spec.VIPUnchecked {
		t.Errorf("preflight predicts an outage: %t", predicted)
	}
	bed.Must(t, bed.Mentions(s.RunRefit(t, "plan", "--to", bed.Newer, "--output", "json"), "so it is last"))
	turns := watchTurns(t, s)
	_, report := s.Measured(t, k.figure, bed.Newer)
	turns.check(t, k.figure)
	k.checkGap(t, report)
	bed.Must(t, s.RecordRelease(r.Parts))
	s.IsAt(t, r)
	s.NoCordonLeft(t)
	k.checkKubeconfigs(t, s)
}

// create creates the cluster and installs Refit.
func (k virtualIP) create(t *testing.T) *bed.Site {
	t.Helper()
	spec := k.spec
	spec.ControlPlanes, spec.Workers, spec.Kubernetes = 3, 2, bed.Older
	s := bed.NewSite(t, spec, false)
	s.Install(t)
	return s
}

// checkGap checks the time during which new connections to the address failed. Without a health
// check, the address points to an API server that is replaced.
func (k virtualIP) checkGap(t *testing.T, report sample.Report) {
	t.Helper()
	totals, _ := report.Kind(sample.KindAPINew)
	bed.Show(t, k.figure+"_gap", totals.GapSeconds, "s")
	switch {
	case k.spec.VIPUnchecked:
	case totals.GapSeconds > limit:
		t.Errorf("the API did not answer at the address for %.1f s, want at most %.1f s", totals.GapSeconds, limit)
	case totals.GapSeconds > goal:
		t.Logf("the API did not answer at the address for %.1f s, which exceeds the goal of %.1f s", totals.GapSeconds, goal)
	}
}

// checkKubeconfigs checks that every pod of kube-vip has started after admin.conf was renewed.
func (k virtualIP) checkKubeconfigs(t *testing.T, s *bed.Site) {
	t.Helper()
	if k.spec.VIP != cluster.VIPKubeVIP {
		return
	}
	bed.OnNodes(t, s.OfRole(cluster.RoleControlPlane), func(ctx context.Context, n *cluster.Node) error {
		_, err := n.Exec(ctx, "sh", "-c", `running=$(ps -o etimes= -p "$(pgrep --exact --newest kube-vip)") &&
			test $(($(date +%s) - running)) -ge "$(stat --format=%Y /etc/kubernetes/admin.conf)"`)
		if err != nil {
			return fmt.Errorf("kube-vip on %s has not read the renewed admin.conf: %w", n.Name(), err)
		}
		return nil
	})
}
