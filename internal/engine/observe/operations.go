package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	var others []*refitv1alpha1.ClusterUpgrade
	operations := rawLister[refitv1alpha1.ClusterUpgrade](g.raw, refitPath(resource), "")
	err := pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: operationsPerPage}, operations,
		func(page *rawPage[refitv1alpha1.ClusterUpgrade]) error {
			for i := range page.Items {
				if u := &page.Items[i]; u.Name == g.operation {
					g.snapshot.Operation = operationOf(u)
				}
				others = append(others, shortened(&page.Items[i]))
			}
			return nil
		})
	g.snapshot.Others = unfinished(others, g.operation)
	if err == nil && g.operation != "" && g.snapshot.Operation == nil {
		return fmt.Errorf("there is no ClusterUpgrade %s; it was deleted, or never made", g.operation)
	}
	return err
}

// shortened is an operation as far as one needs it to know whether it has ended, so that its page is let go of.
func shortened(u *refitv1alpha1.ClusterUpgrade) *refitv1alpha1.ClusterUpgrade {
	out := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: u.Name, CreationTimestamp: u.CreationTimestamp}}
	out.Status.Conditions = u.Status.Conditions
	return out
}

// unfinished names the operations that have not ended and go before one: the oldest acts. Without one it names all.
func unfinished(all []*refitv1alpha1.ClusterUpgrade, one string) []string {
	age := func(a, b *refitv1alpha1.ClusterUpgrade) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	}
	all = slices.DeleteFunc(slices.Clone(all), func(u *refitv1alpha1.ClusterUpgrade) bool { return u.Name != one && u.HasEnded() })
	slices.SortFunc(all, age)
	var names []string
	for i := range all {
		if all[i].Name == one {
			break
		}
		names = append(names, all[i].Name)
	}
	return names
}

func operationOf(u *refitv1alpha1.ClusterUpgrade) *cluster.Operation {
	return &cluster.Operation{
		Name: u.Name, UID: string(u.UID), Generation: u.Generation, Spec: u.Spec,
		Epoch: u.Status.Epoch, Active: u.Status.Active, Plan: u.Status.Plan, Ended: u.HasEnded(),
	}
}
