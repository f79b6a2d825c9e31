package text_test

import (
	"testing"

	"github.com/refit-dev/refit/cmd/refit/output"
	"github.com/refit-dev/refit/cmd/refit/text"
)

func TestChecksAreListedWithTheirMarks(t *testing.T) {
	got := text.Checks(&output.Checks{Checks: []output.KnownCheck{
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
