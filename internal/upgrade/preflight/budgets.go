package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
)

// impact summarizes the pods of one PodDisruptionBudget or workload on the nodes that are drained.
type impact struct {
	nodes     []string
	pods      int32
	workload  int
	hard      bool // on a node whose policy is to wait or fail
	forever   bool
	byBudget  int
	onOneNode int32 // the most pods on one node
}

// blocked collects the blockers of one kind on the nodes that are drained, grouped by key: the PDB
// or the workload.
func (v *view) blocked(kind disruption.BlockerKind, key func(disruption.Blocker) int) ([]int, map[int]*impact) {
	found := map[int]*impact{}
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
				h = &impact{workload: b.Workload, byBudget: b.Budget}
				found[key(b)] = h
			}
			if last := len(h.nodes) - 1; last < 0 || h.nodes[last] != n.Name {
				h.nodes = append(h.nodes, n.Name)
			}
			h.pods += b.Pods
			h.onOneNode = max(h.onOneNode, b.Pods)
			h.hard = h.hard || n.blocksOnDrain()
			h.forever = h.forever || b.Permanent
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

// severity of a drain that never finishes: it blocks only if the policy of the node waits or fails.
func (h *impact) severity() Severity {
	if h.hard {
		return Block
	}
	return Warn
}

func budgetObject(b *cluster.Budget) string { return "PodDisruptionBudget " + b.Key() }

// allow returns the command that lets a PDB disrupt this many pods at once. It lowers an integer
// minAvailable instead of setting maxUnavailable, which works only for owners with a scale
// subresource and would block all evictions of other pods.
func allow(b *cluster.Budget, pods int32) string {
	spec := fmt.Sprintf(`{"minAvailable":null,"maxUnavailable":%d}`, pods)
	if _, err := strconv.ParseInt(b.MinAvailable, 10, 32); err == nil {
		spec = fmt.Sprintf(`{"minAvailable":%d}`, max(0, b.Expected-pods))
	}
	return command(fmt.Sprintf(`kubectl -n %s patch pdb %s --type merge -p '{"spec":%s}'`, b.Namespace, b.Name, spec))
}

func budgetNeverAllows(v *view) []Finding {
	var found []Finding
	keys, blocked := v.blocked(disruption.BudgetNeverAllows, byBudget)
	for _, i := range keys {
		b, h := &v.s.Budgets[i], blocked[i]
		found = append(found, Finding{
			Severity: h.severity(),
			Object:   budgetObject(b),
			Message: fmt.Sprintf("%s requires %d of %d pods to be healthy, so it never allows a disruption: %s on %s cannot be evicted",
				b.Key(), b.Desired, b.Expected, plural(h.pods, "pod"), joinNames(h.nodes)),
			Remedy: "Add a replica, or allow one disruption at a time: " + allow(b, 1),
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
			Message: fmt.Sprintf("%s cannot be computed (%s), so it allows no disruption: %s on %s cannot be evicted",
				b.Key(), b.Failure, plural(h.pods, "pod"), joinNames(h.nodes)),
			Remedy: fmt.Sprintf("Change its selector to match pods of a Deployment, StatefulSet or another owner with a scale subresource: "+
				"`kubectl -n %s describe pdb %s`",
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
			Message: fmt.Sprintf("pods of %s are covered by %d PodDisruptionBudgets (%s), so the eviction API rejects them: %s on %s",
				workloadName(w), len(w.Budgets), joinNames(w.Budgets), plural(h.pods, "pod"), joinNames(h.nodes)),
			Remedy: fmt.Sprintf("Keep only one of the PDBs: `kubectl -n %s delete pdb %s`", w.Namespace, w.Budgets[len(w.Budgets)-1]),
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
			Message: fmt.Sprintf("%s allows %s to be disrupted at a time, but %s has %d pods on one node that can run only there: the first pod waits "+
				"for the node, and the others wait for the first (on %s)",
				b.Key(), plural(b.Allowed, "pod"), workloadName(&v.s.Workloads[h.workload]), h.onOneNode, joinNames(h.nodes)),
			Remedy: "Allow all pods of a node to be disrupted at once: " + allow(b, h.onOneNode),
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
			Message: fmt.Sprintf("%s currently allows no disruption (healthy pods: %d, required: %d): draining %s waits for it",
				b.Key(), b.Healthy, b.Desired, joinNames(h.nodes)),
			Remedy: fmt.Sprintf("Find out why pods are not ready: `kubectl -n %s describe pdb %s; kubectl -n %s get pods`",
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
			Message: fmt.Sprintf("the status of %s is older than its spec, so the allowed disruptions are unknown; %s on %s depend on it",
				b.Key(), plural(h.pods, "pod"), joinNames(h.nodes)),
			Remedy: "Run the check again in a minute. If the finding remains, check that kube-controller-manager is running.",
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
				Message: fmt.Sprintf("%s matches no pods, so it has no effect", b.Key()),
				Remedy:  fmt.Sprintf("Compare its selector with the labels of your pods: `kubectl -n %s get pdb %s -o yaml`", b.Namespace, b.Name),
			})
		}
	}
	return found
}

// nodesShareBudget matters only if several nodes are drained at once.
func nodesShareBudget(v *view) []Finding {
	several := slices.ContainsFunc(v.pools, func(p pool) bool { return p.maxUnavailable > 1 && p.size > 1 })
	if !several {
		return nil
	}
	var found []Finding
	for _, apart := range v.sim.SharedBudgets() {
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
				Message: fmt.Sprintf("%s allows %s to be disrupted at a time and has pods on %s (%s): these nodes are not drained at the same time",
					b.Key(), plural(apart.Allowed, "pod"), plural(len(nodes), "node"), joinNames(nodes)),
				Remedy: "No action is required: the upgrade drains these nodes one after the other. To speed it up, allow more disruptions.",
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
				why = append(why, fmt.Sprintf("PodDisruptionBudget %s allows %d of its %d pods to be disrupted at a time",
					v.s.Budgets[wait.Budget].Key(), wait.Allowed, wait.Pods))
			}
		}
		if len(why) == 0 {
			why = []string{slowestToTerminate(v, n)}
		}
		found = append(found, Finding{
			Object: n.object(),
			Message: fmt.Sprintf("draining %s may take up to %s, but drain.timeout is %s: %s",
				n.Name, n.moves.Estimate, timeout, strings.Join(why, "; ")),
			Remedy: fmt.Sprintf("Raise drain.timeout of the pool above %s, allow more disruptions in the PDB, or reduce the pods' "+
				"terminationGracePeriodSeconds.",
				n.moves.Estimate),
		})
	}
	return found
}

// slowestToTerminate names the workload on a node whose pods have the longest grace period.
func slowestToTerminate(v *view, n *node) string {
	var slowest *cluster.Workload
	for _, set := range n.Pods {
		if set.Workload < 0 || set.Workload >= len(v.s.Workloads) {
			continue
		}
		if w := &v.s.Workloads[set.Workload]; slowest == nil || w.GraceSeconds > slowest.GraceSeconds {
			slowest = w
		}
	}
	if slowest == nil {
		return "a pod may take that long to terminate"
	}
	return fmt.Sprintf("the pods of %s have a termination grace period of %s", workloadObject(slowest), time.Duration(slowest.GraceSeconds)*time.Second)
}
