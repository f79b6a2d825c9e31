package observe

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const budgetsPerPage = 500

// selector is the parsed selector of a PodDisruptionBudget.
type selector struct {
	labels.Selector

	budget int // index into Snapshot.Budgets
}

func (obs *observation) readBudgets(ctx context.Context) error {
	budgets := obs.client.PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll)
	return pages(ctx, listAll("poddisruptionbudgets.policy"), metav1.ListOptions{Limit: budgetsPerPage}, budgets.List,
		func(page *policyv1.PodDisruptionBudgetList) error {
			for i := range page.Items {
				obs.addBudget(&page.Items[i])
			}
			return nil
		})
}

func (obs *observation) addBudget(b *policyv1.PodDisruptionBudget) {
	// In policy/v1 an empty selector matches every pod of the namespace, and a missing one no pod.
	parsed, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		obs.addGap(cluster.PartBudgets, "PodDisruptionBudget "+b.Namespace+"/"+b.Name, fmt.Errorf("invalid selector: %w", err))
		parsed = labels.Nothing()
	}
	obs.selectors[b.Namespace] = append(obs.selectors[b.Namespace], selector{parsed, len(obs.snapshot.Budgets)})
	obs.snapshot.Budgets = append(obs.snapshot.Budgets, budgetOf(b))
}

func budgetOf(b *policyv1.PodDisruptionBudget) cluster.Budget {
	selects := b.Spec.Selector
	out := cluster.Budget{
		Namespace: b.Namespace, Name: b.Name, MinAvailable: formatted(b.Spec.MinAvailable), MaxUnavailable: formatted(b.Spec.MaxUnavailable),
		SelectsAll: selects != nil && len(selects.MatchLabels) == 0 && len(selects.MatchExpressions) == 0,
		Expected:   b.Status.ExpectedPods, Healthy: b.Status.CurrentHealthy, Desired: b.Status.DesiredHealthy, Allowed: b.Status.DisruptionsAllowed,
		Observed: b.Status.ObservedGeneration >= b.Generation,
	}
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil {
		out.AlwaysAllowUnhealthy = *policy == policyv1.AlwaysAllow
	}
	for _, c := range b.Status.Conditions {
		if c.Type == policyv1.DisruptionAllowedCondition && c.Reason == policyv1.SyncFailedReason {
			out.Failure = c.Message
		}
	}
	return out
}

// formatted returns a number or percentage as in the manifest.
func formatted(amount *intstr.IntOrString) string {
	if amount == nil {
		return ""
	}
	return amount.String()
}
