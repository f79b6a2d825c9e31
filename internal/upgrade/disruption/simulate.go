package disruption

import (
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// replacementTime estimates how long a pod takes to become ready elsewhere, with a pull of its
// image.
const replacementTime = 30 * time.Second

// Simulation predicts the drain of each node. It refers to the Snapshot by index and must not
// outlive it. A node's drain is computed on first use, since a decision needs only a few of
// thousands. It is not safe for concurrent use.
type Simulation struct {
	snapshot *cluster.Snapshot
	byName   map[string]int
	budgets  [][]int      // by workload
	drains   []*NodeDrain // as Snapshot.Nodes, nil until first used
}

// NodeDrain is the predicted drain of one node.
type NodeDrain struct {
	Node  string
	Moves int32 // pods that are evicted
	// Blockers are the pods that cannot be evicted now. Costs are what is lost or interrupted when
	// pods are evicted.
	Blockers []Blocker
	Costs    []Cost
	// Waits are the budgets that allow only some evictions at a time.
	Waits []Wait
	// Estimate is how long the drain takes at most, blockers aside: pods seldom use their whole
	// grace period.
	Estimate time.Duration

	uses []use // of budgets
}

// Blocked reports whether something blocks the drain now, and until the user acts.
func (n *NodeDrain) Blocked() (now, permanent bool) {
	for _, b := range n.Blockers {
		now, permanent = true, permanent || b.Permanent
	}
	return now, permanent
}

// RunsPods reports whether the node runs pods that a drain moves.
func (n *NodeDrain) RunsPods() bool { return n != nil && n.Moves > 0 }

// use is how many pods of a node need a disruption of a budget.
type use struct {
	budget int
	pods   int32
	grace  time.Duration
}

// BlockerKind is why pods cannot be evicted.
type BlockerKind string

// The kinds of blockers.
const (
	BudgetNeverAllows BlockerKind = "BudgetNeverAllows"
	BudgetExhausted   BlockerKind = "BudgetExhausted"
	BudgetFailed      BlockerKind = "BudgetFailed"
	BudgetUnobserved  BlockerKind = "BudgetUnobserved"
	BudgetsOverlap    BlockerKind = "BudgetsOverlap"
	// BudgetWaitsForNode means that the budget allows some evictions and then waits for
	// replacements, which can run on this node only.
	BudgetWaitsForNode BlockerKind = "BudgetWaitsForNode"
)

// Blocker is pods of one workload that cannot be evicted.
type Blocker struct {
	Kind      BlockerKind
	Workload  int   // index into Snapshot.Workloads
	Budget    int   // index into Snapshot.Budgets, the first of them if they overlap
	Pods      int32 // on this node
	Permanent bool  // until the user acts
}

// CostKind is what a successful drain costs.
type CostKind string

// The kinds of costs.
const (
	Lost           CostKind = "Lost"           // nothing recreates the pods
	LosesData      CostKind = "LosesData"      // the data of an emptyDir is lost
	StaysDown      CostKind = "StaysDown"      // the pods can run on this node only and wait for it
	HasFinalizer   CostKind = "HasFinalizer"   // the pods end once their finalizer is removed
	NotSafeToEvict CostKind = "NotSafeToEvict" // an annotation declares the pods not safe to evict
)

// Cost is what a drain costs the pods of one workload.
type Cost struct {
	Kind     CostKind
	Workload int
	Pods     int32
}

// Wait is a budget that allows only some evictions at a time.
type Wait struct {
	Budget  int
	Pods    int32 // on this node
	Allowed int32 // at once
	Rounds  int32
	Time    time.Duration // at most
}

// Simulate predicts the drain of any node of a Snapshot.
func Simulate(s *cluster.Snapshot) *Simulation {
	sim := &Simulation{snapshot: s, byName: make(map[string]int, len(s.Nodes)), budgets: budgetsOf(s), drains: make([]*NodeDrain, len(s.Nodes))}
	for i := range s.Nodes {
		sim.byName[s.Nodes[i].Name] = i
	}
	return sim
}

// Node returns the predicted drain of a node, nil if there is no such node.
func (sim *Simulation) Node(name string) *NodeDrain {
	i, ok := sim.byName[name]
	if !ok {
		return nil
	}
	return sim.at(i)
}

// at returns the predicted drain of a node by its index.
func (sim *Simulation) at(i int) *NodeDrain {
	if sim.drains[i] == nil {
		sim.drains[i] = drain(sim.snapshot, &sim.snapshot.Nodes[i], sim.budgets)
	}
	return sim.drains[i]
}

func drain(s *cluster.Snapshot, node *cluster.Node, budgets [][]int) *NodeDrain {
	out := &NodeDrain{Node: node.Name}
	var longest int64
	for _, set := range node.Pods {
		if set.Workload < 0 || set.Workload >= len(s.Workloads) || set.Count <= 0 {
			continue // a Snapshot from a file may contain anything
		}
		w := &s.Workloads[set.Workload]
		if !w.Moves() {
			continue
		}
		out.Moves += set.Count
		longest = max(longest, w.GraceSeconds)
		out.checkBudgets(s, set, budgets[set.Workload])
		out.cost(w, set)
	}
	out.deadlocks(s, node, budgets)
	out.Estimate = seconds(longest)
	for _, u := range out.uses {
		wait := Wait{Budget: u.budget, Pods: u.pods, Allowed: allowed(&s.Budgets[u.budget])}
		if wait.Allowed <= 0 || wait.Allowed >= wait.Pods {
			continue
		}
		wait.Rounds = (wait.Pods + wait.Allowed - 1) / wait.Allowed
		wait.Time = time.Duration(wait.Rounds) * (u.grace + replacementTime)
		out.Waits = append(out.Waits, wait)
		out.Estimate = max(out.Estimate, wait.Time)
	}
	return out
}

// checkBudgets adds what the budgets of some pods block.
func (n *NodeDrain) checkBudgets(s *cluster.Snapshot, set cluster.PodSet, budgets []int) {
	pods := set.Guarded()
	if len(budgets) == 0 || pods == 0 {
		return
	}
	if len(budgets) > 1 {
		n.Blockers = append(n.Blockers, Blocker{Kind: BudgetsOverlap, Workload: set.Workload, Budget: budgets[0], Pods: pods, Permanent: true})
	}
	grace := seconds(s.Workloads[set.Workload].GraceSeconds)
	for _, i := range budgets {
		b := &s.Budgets[i]
		guarded := pods
		if allowsUnready(b) {
			guarded -= min(max(set.Unready, 0), pods)
		}
		if guarded == 0 {
			continue
		}
		n.use(i, guarded, grace)
		if len(budgets) > 1 {
			continue // the API ignores what they allow
		}
		if kind, holds := blockerOf[Judge(b)]; holds {
			permanent := kind == BudgetNeverAllows || kind == BudgetFailed
			n.Blockers = append(n.Blockers, Blocker{Kind: kind, Workload: set.Workload, Budget: i, Pods: guarded, Permanent: permanent})
		}
	}
}

// deadlocks finds pods that can run on this node only and whose budget allows only some evictions
// at a time.
func (n *NodeDrain) deadlocks(s *cluster.Snapshot, node *cluster.Node, budgets [][]int) {
	if len(n.uses) == 0 {
		return
	}
	for _, set := range node.Pods {
		if set.Workload < 0 || set.Workload >= len(s.Workloads) || len(budgets[set.Workload]) != 1 {
			continue
		}
		w, budget := &s.Workloads[set.Workload], budgets[set.Workload][0]
		if !w.Moves() || (!w.NodeBound && !w.LocalVolume) || set.Guarded() == 0 {
			continue
		}
		may := allowed(&s.Budgets[budget])
		for _, u := range n.uses {
			if u.budget == budget && may > 0 && may < u.pods {
				n.Blockers = append(n.Blockers, Blocker{Kind: BudgetWaitsForNode, Workload: set.Workload, Budget: budget, Pods: u.pods, Permanent: w.NodeBound})
			}
		}
	}
}

var blockerOf = map[Verdict]BlockerKind{
	NeverAllows: BudgetNeverAllows,
	Exhausted:   BudgetExhausted,
	Failed:      BudgetFailed,
	Unobserved:  BudgetUnobserved,
}

func (n *NodeDrain) use(budget int, pods int32, grace time.Duration) {
	for i := range n.uses {
		if n.uses[i].budget == budget {
			n.uses[i].pods += pods
			n.uses[i].grace = max(n.uses[i].grace, grace)
			return
		}
	}
	n.uses = append(n.uses, use{budget: budget, pods: pods, grace: grace})
}

func (n *NodeDrain) cost(w *cluster.Workload, set cluster.PodSet) {
	add := func(kind CostKind, applies bool) {
		if applies {
			n.Costs = append(n.Costs, Cost{Kind: kind, Workload: set.Workload, Pods: set.Count})
		}
	}
	add(Lost, w.Unmanaged())
	add(LosesData, w.LocalData)
	add(StaysDown, w.LocalVolume || w.NodeBound)
	add(HasFinalizer, len(w.Finalizers) > 0)
	add(NotSafeToEvict, w.SafeToEvict == cluster.No)
}

// seconds bounds a value from a file, so that sums do not overflow.
func seconds(n int64) time.Duration { return time.Duration(min(max(n, 0), 7*24*3600)) * time.Second }
