package disruption

import "github.com/refit-dev/refit/internal/upgrade/cluster"

// Verdict is what a budget says to a drain.
type Verdict string

// The verdicts.
const (
	Allows      Verdict = "Allows"      // at least one disruption at this moment
	NeverAllows Verdict = "NeverAllows" // none, even when every pod is healthy
	Exhausted   Verdict = "Exhausted"   // none at this moment, since too few pods are healthy
	Failed      Verdict = "Failed"      // none, since its pods cannot be counted
	Unobserved  Verdict = "Unobserved"  // its status does not speak of its spec yet
)

// Judge tells what a budget says to a drain.
func Judge(b *cluster.Budget) Verdict {
	switch {
	case b.Failure != "":
		return Failed
	case !b.Observed:
		return Unobserved
	case b.Expected > 0 && b.Desired >= b.Expected:
		return NeverAllows
	case b.Allowed <= 0:
		return Exhausted
	}
	return Allows
}

// allowed is how many pods may go at once. A status that means nothing allows nothing.
func allowed(b *cluster.Budget) int32 {
	if Judge(b) != Allows {
		return 0
	}
	return b.Allowed
}

// freesUnready says whether pods that are not ready may go whatever the budget allows, as the eviction API has it: with the policy AlwaysAllow,
// or else while the budget is satisfied without them.
func freesUnready(b *cluster.Budget) bool {
	return b.AlwaysAllowUnhealthy || (b.Observed && b.Failure == "" && b.Desired > 0 && b.Healthy >= b.Desired)
}

// budgetsOf finds, for each workload, the budgets that cover it, by index. A name that is nowhere is left out: the Snapshot has a gap then.
func budgetsOf(s *cluster.Snapshot) [][]int {
	type key struct{ namespace, name string }
	byKey := make(map[key]int, len(s.Budgets))
	for i := range s.Budgets {
		byKey[key{s.Budgets[i].Namespace, s.Budgets[i].Name}] = i
	}
	found := make([][]int, len(s.Workloads))
	for i := range s.Workloads {
		w := &s.Workloads[i]
		for _, name := range w.Budgets {
			if budget, ok := byKey[key{w.Namespace, name}]; ok {
				found[i] = append(found[i], budget)
			}
		}
	}
	return found
}
