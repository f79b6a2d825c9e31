package plan

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// plan is the plan for an observation. It is made again only if an input of Make has changed.
func (s *observation) plan(w *world) *Plan {
	if p := w.plans[s.inputs]; p != nil {
		return p
	}
	p, err := Make(s.snapshot, s.snapshot.Operation.Spec)
	if _, deleted := errors.AsType[releaseNotFound](err); deleted {
		return Recorded(s.snapshot, s.snapshot.Operation.Spec, err)
	}
	if err != nil {
		w.violation("no plan: %v", err)
		return nil
	}
	w.plans[s.inputs] = p
	w.checkHash(s, p)
	return p
}

// checkHash checks that the hash does not change with progress, nor because the plan was recorded.
func (w *world) checkHash(s *observation, p *Plan) {
	if known, ok := w.hashes[s.meaning]; ok && known != p.Hash {
		w.violation("the plan's hash has changed from %s to %s, and nothing that it covers has", short(known), short(p.Hash))
	}
	w.hashes[s.meaning] = p.Hash
}

func short(hash string) string { return hash[:min(len(hash), 15)] }

// decide lets a controller decide on its view and execute the decision.
func (w *world) decide(who *controller) Decision {
	if who.view.snapshot.Operation.Ended {
		return w.tidy(who)
	}
	p := who.view.plan(w)
	if p == nil {
		return Decision{}
	}
	if op := who.view.snapshot.Operation; p.problem == nil && (op.Plan == nil || op.Plan.Hash != p.Hash && op.Spec.ApprovedPlan == p.Hash) {
		w.writeOperation(who, func() { w.op.Plan, w.inputs = p.Summary(), w.inputs+1 })
		return Decision{State: Running}
	}
	v := newView(p, who.snapshot(), who.clock(w))
	v.gates, v.blocking = gatesOf(w.without), w.blocking
	d := next(v)
	w.tally.decisions++
	if w.dice != nil && w.dice.IntN(200) == 0 {
		w.checkPure(who, p, &d)
	}
	d.ReportFailed(w.deniedActions(&d), w.now)
	w.reportRefusedClaims(&d)
	w.checkDecision(&d)
	w.checkStatus(p, &d)
	w.execute(who, &d)
	if w.narrative != nil && who.fresh {
		w.narrative.decided(w.now, &d)
	}
	return d
}

// tidy lets a controller clean up after an operation that has ended.
func (w *world) tidy(who *controller) Decision {
	d := Tidy(who.view.snapshot.Operation, who.view.snapshot.Nodes)
	w.tally.decisions++
	w.checkDecision(&d)
	w.execute(who, &d)
	if w.narrative != nil && who.fresh {
		w.narrative.decided(w.now, &d)
	}
	return d
}

// checkPure checks that deciding is a function of its input, does not change it, and does not
// depend on the order of nodes.
func (w *world) checkPure(who *controller, p *Plan, d *Decision) {
	again := w.observe().snapshot // equal, but not identical
	if !who.fresh {
		again = who.view.snapshot
	}
	mixed := *again
	mixed.Nodes = slices.Clone(again.Nodes)
	w.dice.Shuffle(len(mixed.Nodes), func(i, j int) { mixed.Nodes[i], mixed.Nodes[j] = mixed.Nodes[j], mixed.Nodes[i] })
	mixed.APIServers = slices.Clone(again.APIServers)
	slices.Reverse(mixed.APIServers)
	mixed.ClockOffset = who.skew
	v := newView(p, &mixed, who.clock(w))
	v.gates, v.blocking = gatesOf(w.without), w.blocking
	if other := next(v); !reflect.DeepEqual(other, *d) {
		w.violation("the order of the nodes changes the decision: %q %v %v, not %q %v %v", other.Message, other.Actions, other.Waiting, d.Message, d.Actions, d.Waiting)
	}
	w.require(reflect.DeepEqual(who.view.snapshot, again), "deciding has changed its input")
	repeated, err := Make(again, again.Operation.Spec)
	w.require(p.problem != nil || err == nil && repeated.Hash == p.Hash, "the plan's hash differs when it is made again")
}

// controllers are the controllers of a simulation: a leader, and deposed ones that have not
// noticed.
type controllers struct {
	leader  *controller
	deposed []*controller
	lag     int // how many observations the leader's view is behind
	mixed   bool
	born    int
}

// decide lets every controller decide once, and returns the leader's decision.
func (c *controllers) decide(w *world) Decision {
	lag := c.lag
	for lag > 0 && w.ago(lag).at.Before(c.leader.since) {
		lag--
	}
	c.leader.view, c.leader.fresh, c.leader.since = w.ago(lag), lag == 0, w.ago(lag).at
	if c.mixed && lag > 0 {
		c.leader.view = w.mixedView(lag)
	}
	w.leading = c.leader
	d := w.decide(c.leader)
	for _, old := range c.deposed {
		if w.dice.IntN(2) == 0 {
			w.decide(old)
		}
	}
	return d
}

// mixedView is the view of a controller that has just written the operation: the operation is
// current, and the rest comes from a cache that lags.
func (w *world) mixedView(lag int) *observation {
	out, now := *w.ago(lag), w.past[len(w.past)-1]
	s := *out.snapshot
	s.Releases = now.snapshot.Releases
	s.Operation, s.Others = now.snapshot.Operation, now.snapshot.Others
	out.snapshot, out.op = &s, now.op
	out.inputs, out.meaning = now.inputs, now.meaning
	if !slices.EqualFunc(s.Nodes, now.snapshot.Nodes, func(a, b cluster.Node) bool { return a.Name == b.Name }) {
		return w.ago(lag) // other nodes would make another plan
	}
	if !reflect.DeepEqual(s.Components, now.snapshot.Components) || !reflect.DeepEqual(s.ComponentUpgrades, now.snapshot.ComponentUpgrades) {
		return w.ago(lag) // so would other components
	}
	return &out
}

// disrupt makes leaders crash, come back without state, and lag, and restores etcd.
func (c *controllers) disrupt(w *world, dice *rand.Rand) {
	switch dice.IntN(5) {
	case 0: // it crashes
		c.born++
		c.leader = w.takeOver("a new leader")
	case 1: // it was suspended, and resumes later
		old := *c.leader
		old.name, old.fresh, old.view = "a deposed leader", false, w.ago(dice.IntN(3))
		c.deposed = append(c.deposed[max(0, len(c.deposed)-1):], &old)
		c.leader = w.takeOver("a new leader")
	case 2:
		c.lag, c.mixed = 1+dice.IntN(6), dice.IntN(2) == 0
	case 3:
		c.lag, c.deposed = 0, nil
	case 4:
		c.etcdRestored(w)
	}
}
