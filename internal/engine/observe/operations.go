package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// operationsPerPage is small because a ClusterUpgrade may have 144 KiB, and operations are kept
// after they end.
const operationsPerPage = 50

// readOperations finds the operation of the Snapshot and other unfinished ones, the oldest first.
func (obs *observation) readOperations(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "clusterupgrades"
	var others []*refitv1alpha1.ClusterUpgrade
	operations := rawLister[refitv1alpha1.ClusterUpgrade](obs.raw, refitPath(resource), "")
	err := pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: operationsPerPage}, operations,
		func(page *rawPage[refitv1alpha1.ClusterUpgrade]) error {
			for i := range page.Items {
				if u := &page.Items[i]; u.Name == obs.operation {
					obs.snapshot.Operation = operationOf(u)
				}
				others = append(others, summaryOf(&page.Items[i]))
			}
			return nil
		})
	obs.snapshot.Others = unfinished(others, obs.operation)
	if err == nil && obs.operation != "" && obs.snapshot.Operation == nil {
		return fmt.Errorf("ClusterUpgrade %s does not exist; it may have been deleted", obs.operation)
	}
	return err
}

// summaryOf copies what is needed to know whether an operation has ended, so that its page can be
// freed.
func summaryOf(u *refitv1alpha1.ClusterUpgrade) *refitv1alpha1.ClusterUpgrade {
	out := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: u.Name, CreationTimestamp: u.CreationTimestamp}}
	out.Status.Conditions = u.Status.Conditions
	return out
}

// unfinished returns the unfinished operations that are older than one, which act first. If one is
// empty it returns all.
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
	out := &cluster.Operation{
		Name: u.Name, UID: string(u.UID), Generation: u.Generation, Spec: u.Spec,
		Epoch: u.Status.Epoch, Active: u.Status.Active, Plan: u.Status.Plan, Ended: u.HasEnded(),
	}
	approved := meta.FindStatusCondition(u.Status.Conditions, refitv1alpha1.ConditionApproved)
	if approved != nil && approved.Status == metav1.ConditionTrue {
		out.ApprovedAt = approved.LastTransitionTime.UTC()
	}
	return out
}
