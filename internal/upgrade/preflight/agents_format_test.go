package preflight

import (
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// newer are the known formats and one more, which orders with manual rollback need.
func newer() orders.Formats {
	return append(orders.Known(), orders.Format{
		Number: refitv1alpha1.MaxOrderFormat + 1,
		Needed: func(o *refitv1alpha1.NodeUpgradeSpec) bool { return o.Rollback == refitv1alpha1.RollbackManual },
	})
}

func TestAgentOfAnOlderReleaseIsNotBlockedByAFormatThatItsOrdersDoNotNeed(t *testing.T) {
	c := situation{change: onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.OrderFormat = refitv1alpha1.MinOrderFormat })}
	if found := agentsBelowFormat(newView(c.input(t)), newer()); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
}

func TestAgentOfAnOlderReleaseIsBlockedByAFormatThatItsOrdersNeed(t *testing.T) {
	c := situation{
		spec: func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Rollback = refitv1alpha1.RollbackManual },
		change: func(s *snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Report.OrderFormat = refitv1alpha1.MaxOrderFormat + 1
			}
			onReport("worker-1", func(r *refitv1alpha1.NodeReportStatus) { r.OrderFormat = refitv1alpha1.MaxOrderFormat })(s)
		},
	}
	var objects []string
	for _, f := range agentsBelowFormat(newView(c.input(t)), newer()) {
		objects = append(objects, f.Object)
	}
	if !slices.Equal(objects, []string{"Node worker-1"}) {
		t.Errorf("got findings about %v", objects)
	}
}
