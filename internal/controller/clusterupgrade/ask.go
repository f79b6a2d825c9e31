package clusterupgrade

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// ask asks a node's agent for fresh facts. The number only ever rises, so it does not matter who else asks.
func (c *Controller) ask(ctx context.Context, seen *sight, a *plan.Action) error {
	if n := seen.nodes[a.Node]; n == nil || n.Asked >= a.Request {
		return nil
	}
	report := &refitv1alpha1.NodeReport{}
	report.Name = a.Node
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"request":%d}}`, a.Request))
	return client.IgnoreNotFound(c.Live.Patch(ctx, report, patch, manager))
}
