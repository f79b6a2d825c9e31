package text_test

import (
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestChecksAreListedWithTheirMarks(t *testing.T) {
	got := text.Checks(&cliv1alpha1.Checks{Checks: []cliv1alpha1.KnownCheck{
		{Name: "BudgetNeverAllows", Severity: "Block", Means: "a PodDisruptionBudget never lets a pod go"},
		{Name: "EtcdAlarm", Severity: "Block", Means: "etcd raises an alarm", NeedsAgent: true, NoWaiver: true},
	}})
	want := `Block  BudgetNeverAllows  a PodDisruptionBudget never lets a pod go
Block  EtcdAlarm          etcd raises an alarm (agent, no waiver)

2 checks
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
