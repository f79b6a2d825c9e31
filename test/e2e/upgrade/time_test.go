//go:build e2e

package upgrade

import (
	"os"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/sample"
)

// share is the fraction of kubeadm's time that Refit may take.
const share = 0.50

// TestUpgradeTime upgrades two identical clusters: one with kubeadm and kubectl as documented, one
// with `refit upgrade`. Both times include everything until the last node is Ready: copying images
// and files to the nodes, drains, and the upgrade itself. REFIT_LOAD=n runs n busy processes beside
// them.
func TestUpgradeTime(t *testing.T) {
	spec := cluster.Spec{Name: "uptime", ControlPlanes: 3, Workers: 2, Kubernetes: older}
	loadMachine(t)
	var byHand, byRefit, gapByHand, gapByRefit, longest float64
	t.Run("kubeadm", func(t *testing.T) {
		c := testbed.Up(t, spec)
		report, err := bare.Upgrade(t.Context(), c, newer, true, progress.New(os.Stdout))
		must(t, report.WriteTable(os.Stdout))
		must(t, err)
		byHand = report.Preload + report.Seconds
		show(t, "bare_upgrade_3_2", byHand, "s")
		bed.ShowGaps(t, "bare_upgrade_3_2", "all", *report.Availability)
		gapByHand = gapOf(*report.Availability)
	})
	t.Run("refit", func(t *testing.T) {
		s := newBareSite(t, spec, inCluster)
		s.Install(t)
		r := s.CreateRelease(t, newer)
		var report sample.Report
		byRefit, report = s.Measured(t, "time_upgrade_3_2", newer)
		gapByRefit, longest = gapOf(report), longestGap(report)
		s.IsAt(t, r)
	})
	if byHand == 0 || byRefit == 0 {
		t.Fatal("one of them was not measured")
	}
	show(t, "upgrade_share_of_kubeadm", byRefit/byHand, "ratio")
	if byRefit/byHand > share {
		t.Errorf("refit took %.1f s, kubeadm %.1f s: %.2f of it, want at most %.2f", byRefit, byHand, byRefit/byHand, share)
	}
	t.Run("F46_the_endpoint_leads_to_no_API_server_that_is_away", func(t *testing.T) {
		if longest > 1 {
			t.Errorf("the API was away for %.1f s in one piece", longest)
		}
	})
	show(t, "upgrade_api_gap", gapByRefit, "s")
	if gapByRefit > gapByHand {
		t.Errorf("the API was away for %.1f s, with kubeadm for %.1f s", gapByRefit, gapByHand)
	}
}

// gapOf returns the total API downtime, on new and on reused connections.
func gapOf(report sample.Report) float64 {
	sum := 0.0
	for _, kind := range []sample.Kind{sample.KindAPINew, sample.KindAPIReused} {
		totals, _ := report.Kind(kind)
		sum += totals.GapSeconds
	}
	return sum
}

// longestGap returns the longest continuous API downtime.
func longestGap(report sample.Report) float64 {
	longest := 0.0
	for _, kind := range []sample.Kind{sample.KindAPINew, sample.KindAPIReused} {
		totals, _ := report.Kind(kind)
		longest = max(longest, totals.LongestGapSeconds)
	}
	return longest
}
