package clusterupgrade

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// requestReport asks a node's agent for fresh facts. The number only ever rises, so it does not matter who else asks.
func (r *Reconciler) requestReport(ctx context.Context, obs *observation, a *plan.Action) error {
	if n := obs.nodes[a.Node]; n == nil || n.Asked >= a.Request {
		return nil
	}
	report := &refitv1alpha1.NodeReport{}
	report.Name = a.Node
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"request":%d}}`, a.Request))
	return client.IgnoreNotFound(r.Client.Patch(ctx, report, patch, fieldOwner))
}
