package clusterupgrade

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// requestReport requests fresh facts from the agent of a node. The number only increases, so other
// requests do no harm.
func (r *Reconciler) requestReport(ctx context.Context, obs *observation, a *plan.Action) (bool, error) {
	if n := obs.nodes[a.Node]; n == nil || n.ReportRequest >= a.Request {
		return false, nil
	}
	report := &refitv1alpha1.NodeReport{}
	report.Name = a.Node
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"request":%d}}`, a.Request))
	err := r.Client.Patch(ctx, report, patch, fieldOwner)
	return err == nil, client.IgnoreNotFound(err)
}
