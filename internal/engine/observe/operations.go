package observe

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// operationsPerPage is small because a ClusterUpgrade may have 128 KiB, and those that ended stay.
const operationsPerPage = 50

// readOperations finds the operation that the Snapshot is taken for, and those that are unfinished beside it, the oldest first.
func (g *gathering) readOperations(ctx context.Context) error {
	if g.refit != nil {
		return g.refit
	}
	const resource = "clusterupgrades"
	var others []metav1.ObjectMeta
	operations := rawLister[refitv1alpha1.ClusterUpgrade](g.raw, refitPath(resource), "")
	err := pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: operationsPerPage}, operations,
		func(page *rawPage[refitv1alpha1.ClusterUpgrade]) error {
			for i := range page.Items {
				switch u := &page.Items[i]; {
				case u.Name == g.operation:
					g.snapshot.Operation = operationOf(u)
				case !hasEnded(u):
					others = append(others, metav1.ObjectMeta{Name: u.Name, CreationTimestamp: u.CreationTimestamp})
				}
			}
			return nil
		})
	slices.SortStableFunc(others, func(a, b metav1.ObjectMeta) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	for _, o := range others {
		g.snapshot.Others = append(g.snapshot.Others, o.Name)
	}
	if err == nil && g.operation != "" && g.snapshot.Operation == nil {
		return fmt.Errorf("there is no ClusterUpgrade %s; it was deleted, or never made", g.operation)
	}
	return err
}

func operationOf(u *refitv1alpha1.ClusterUpgrade) *cluster.Operation {
	return &cluster.Operation{
		Name: u.Name, UID: string(u.UID), Generation: u.Generation, Spec: u.Spec,
		Epoch: u.Status.Epoch, Active: u.Status.Active, Plan: u.Status.Plan, Ended: hasEnded(u),
	}
}

// hasEnded says whether an operation is over for good. The conditions are the truth; the phase is only derived from them.
func hasEnded(u *refitv1alpha1.ClusterUpgrade) bool {
	ready := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionReady)
	return ready != nil && (ready.Status == metav1.ConditionTrue || ready.Reason == refitv1alpha1.ReasonAborted)
}
