package disruption

import "github.com/refit-dev/refit/internal/upgrade/cluster"

// Verdict is whether a budget allows evictions.
type Verdict string

// The verdicts.
const (
	Allows      Verdict = "Allows"      // at least one disruption now
	NeverAllows Verdict = "NeverAllows" // none, even when every pod is healthy
	Exhausted   Verdict = "Exhausted"   // none now: too few pods are healthy
	Failed      Verdict = "Failed"      // none: its controller cannot count its pods
	Unobserved  Verdict = "Unobserved"  // its status is older than its spec
)

// Judge returns whether a budget allows evictions.
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

// allowed is how many pods may be evicted at once, 0 if the status is not valid.
func allowed(b *cluster.Budget) int32 {
	if Judge(b) != Allows {
		return 0
	}
	return b.Allowed
}

// allowsUnready reports whether the eviction API allows the eviction of unready pods, whatever the
// budget allows: with the policy AlwaysAllow, or while enough other pods are healthy.
func allowsUnready(b *cluster.Budget) bool {
	return b.AlwaysAllowUnhealthy || (b.Observed && b.Failure == "" && b.Desired > 0 && b.Healthy >= b.Desired)
}

// budgetsOf finds, for each workload, the budgets that select it, by index. It ignores unknown
// names: the Snapshot has a gap then.
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
