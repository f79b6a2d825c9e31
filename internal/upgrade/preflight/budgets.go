package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

// held is what a budget, or a workload, holds on the nodes that are drained.
type held struct {
	nodes     []string
	pods      int32
	workload  int
	hard      bool // on a node whose drain waits for it, or fails
	forever   bool
	byBudget  int
	onOneNode int32 // the most pods on one node
}

// blocked collects the blockers of one kind on the nodes that are drained, by what key says: the budget or the workload.
func (v *view) blocked(kind disruption.BlockerKind, key func(disruption.Blocker) int) ([]int, map[int]*held) {
	found := map[int]*held{}
	for i := range v.nodes {
		n := &v.nodes[i]
		if !n.drained {
			continue
		}
		for _, b := range n.moves.Blockers {
			if b.Kind != kind {
				continue
			}
			h := found[key(b)]
			if h == nil {
				h = &held{workload: b.Workload, byBudget: b.Budget}
				found[key(b)] = h
			}
			if last := len(h.nodes) - 1; last < 0 || h.nodes[last] != n.Name {
				h.nodes = append(h.nodes, n.Name)
			}
			h.pods += b.Pods
			h.onOneNode = max(h.onOneNode, b.Pods)
			h.hard = h.hard || n.holds()
			h.forever = h.forever || b.Forever
		}
	}
	var keys []int
	for k := range found {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, found
}

func byBudget(b disruption.Blocker) int   { return b.Budget }
func byWorkload(b disruption.Blocker) int { return b.Workload }

// severity of a drain that never ends: it blocks where the policy is to wait for it.
func (h *held) severity() Severity {
	if h.hard {
		return Block
	}
	return Warn
}

func budgetObject(b *cluster.Budget) string { return "PodDisruptionBudget " + b.Key() }

// allow is how to let so many pods of a budget go at once. A number of minAvailable is made smaller and not replaced: maxUnavailable works only
// for pods whose owner has a scale, and for others it would stop all evictions.
func allow(b *cluster.Budget, pods int32) string {
	spec := fmt.Sprintf(`{"minAvailable":null,"maxUnavailable":%d}`, pods)
	if _, err := strconv.ParseInt(b.MinAvailable, 10, 32); err == nil {
		spec = fmt.Sprintf(`{"minAvailable":%d}`, max(0, b.Expected-pods))
	}
	return fmt.Sprintf(`kubectl -n %s patch pdb %s --type merge -p '{"spec":%s}'`, b.Namespace, b.Name, spec)
}

func budgetNeverAllows(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetNeverAllows, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		found = append(found, Finding{
			Severity: h.severity(),
			Object:   budgetObject(b),
			Message: fmt.Sprintf("%s asks for %d of %d pods to be healthy, so it never lets one go: %s on %s cannot be moved",
				b.Key(), b.Desired, b.Expected, many(h.pods, "pod"), some(h.nodes)),
			Remedy: "Run one more replica, or let one go at a time: " + allow(b, 1),
		})
	}
	return found
}

func budgetFailed(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetFailed, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		found = append(found, Finding{
			Severity: h.severity(),
			Object:   budgetObject(b),
			Message: fmt.Sprintf("%s cannot be worked out (%s), so it lets nothing go: %s on %s cannot be moved",
				b.Key(), b.Failure, many(h.pods, "pod"), some(h.nodes)),
			Remedy: fmt.Sprintf("Let it select pods of a Deployment, StatefulSet or another owner that has a scale: kubectl -n %s describe pdb %s",
				b.Namespace, b.Name),
		})
	}
	return found
}

func budgetsOverlap(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetsOverlap, byWorkload)
	for _, i := range keys {
		w, h := &v.s.Workloads[i], blocked[i]
		found = append(found, Finding{
			Severity: h.severity(),
			Object:   workloadObject(w),
			Message: fmt.Sprintf("%s has pods that %d PodDisruptionBudgets cover (%s): the API refuses to evict them, %s on %s",
				workloadName(w), len(w.Budgets), some(w.Budgets), many(h.pods, "pod"), some(h.nodes)),
			Remedy: fmt.Sprintf("Keep one of the budgets: kubectl -n %s delete pdb %s", w.Namespace, w.Budgets[len(w.Budgets)-1]),
		})
	}
	return found
}

func budgetWaitsForNode(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetWaitsForNode, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		f := Finding{
			Severity: Warn,
			Object:   budgetObject(b),
			Message: fmt.Sprintf("%s lets %s go at a time, and %s has %d pods on one node that can run there only: the first would wait for "+
				"the node, the others for the first (on %s)",
				b.Key(), many(b.Allowed, "pod"), workloadName(&v.s.Workloads[h.workload]), h.onOneNode, some(h.nodes)),
			Remedy: "Let all of a node's pods go at once: " + allow(b, h.onOneNode),
		}
		if h.forever {
			f.Severity = h.severity()
		}
		found = append(found, f)
	}
	return found
}

func budgetExhausted(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetExhausted, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		found = append(found, Finding{
			Object: budgetObject(b),
			Message: fmt.Sprintf("%s lets nothing go at this moment (healthy pods: %d, asked for: %d): draining %s waits for it",
				b.Key(), b.Healthy, b.Desired, some(h.nodes)),
			Remedy: fmt.Sprintf("Find out why pods are not ready: kubectl -n %s describe pdb %s; kubectl -n %s get pods",
				b.Namespace, b.Name, b.Namespace),
		})
	}
	return found
}

func budgetUnobserved(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetUnobserved, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		found = append(found, Finding{
			Unknown: true,
			Object:  budgetObject(b),
			Message: fmt.Sprintf("the status of %s does not speak of its newest spec, so nobody knows what it allows; %s on %s depend on it",
				b.Key(), many(h.pods, "pod"), some(h.nodes)),
			Remedy: "Run the check again in a minute. If it stays so, look whether kube-controller-manager runs.",
		})
	}
	return found
}

func budgetMatchesNothing(v *view) []Finding {
	var found []Finding
	for i := range v.s.Budgets {
		b := &v.s.Budgets[i]
		if b.Matched == 0 && b.Expected == 0 && b.Failure == "" && b.Observed {
			found = append(found, Finding{
				Object:  budgetObject(b),
				Message: fmt.Sprintf("%s matches no pod, so it protects nothing", b.Key()),
				Remedy:  fmt.Sprintf("Compare its selector with the labels of your pods: kubectl -n %s get pdb %s -o yaml", b.Namespace, b.Name),
			})
		}
	}
	return found
}

// nodesShareBudget matters only where several nodes are drained at once.
func nodesShareBudget(v *view) []Finding {
	several := slices.ContainsFunc(v.pools, func(p pool) bool { return p.maxUnavailable > 1 && p.size > 1 })
	if !several {
		return nil
	}
	var found []Finding
	for _, apart := range v.sim.Apart() {
		var nodes []string
		for _, name := range apart.Nodes {
			if n := v.byName[name]; n != nil && n.drained && !n.ControlPlane {
				nodes = append(nodes, name)
			}
		}
		b := &v.s.Budgets[apart.Budget]
		if len(nodes) > 1 && disruption.Judge(b) == disruption.Allows {
			found = append(found, Finding{
				Object: budgetObject(b),
				Message: fmt.Sprintf("%s lets %s go at a time, and its pods are on %s (%s): these are not drained all at once",
					b.Key(), many(apart.Allowed, "pod"), many(len(nodes), "node"), some(nodes)),
				Remedy: "Nothing needs to be done: the upgrade takes such nodes one after the other. A budget that allows more makes it faster.",
			})
		}
	}
	return found
}

func drainExceedsTimeout(v *view) []Finding {
	var found []Finding
	for i := range v.nodes {
		n := &v.nodes[i]
		timeout := n.drain.Timeout.Duration
		if now, _ := n.moves.Blocked(); !n.drained || now || n.moves.Estimate <= timeout {
			continue
		}
		var why []string
		for _, wait := range n.moves.Waits {
			if wait.Time > timeout {
				why = append(why, fmt.Sprintf("PodDisruptionBudget %s lets %d of its %d pods go at a time",
					v.s.Budgets[wait.Budget].Key(), wait.Allowed, wait.Pods))
			}
		}
		if len(why) == 0 {
			why = []string{"a pod may take that long to end"}
		}
		found = append(found, Finding{
			Object: n.object(),
			Message: fmt.Sprintf("draining %s may take up to %s, and drain.timeout is %s: %s",
				n.Name, n.moves.Estimate, timeout, strings.Join(why, "; ")),
			Remedy: fmt.Sprintf("Raise drain.timeout of the pool above %s, let the budget allow more, or shorten the pods' "+
				"terminationGracePeriodSeconds.",
				n.moves.Estimate),
		})
	}
	return found
}
