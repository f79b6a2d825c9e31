package plan

import (
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// plan is the plan for what was seen. It is made anew only when something changed that Make reads.
func (s *sighting) plan(w *world) *Plan {
	if p := w.plans[s.inputs]; p != nil {
		return p
	}
	p, err := Make(s.snapshot, s.snapshot.Operation.Spec)
	if err != nil {
		w.broke("no plan: %v", err)
		return nil
	}
	w.plans[s.inputs] = p
	w.checkHash(s, p)
	return p
}

// checkHash: the hash is that of what was approved. It does not change because the cluster has come further, nor because the plan was written down.
func (w *world) checkHash(s *sighting, p *Plan) {
	if known, ok := w.hashes[s.meaning]; ok && known != p.Hash {
		w.broke("the plan's hash has changed from %s to %s, and nothing that was approved has", short(known), short(p.Hash))
	}
	w.hashes[s.meaning] = p.Hash
}

func short(hash string) string { return hash[:min(len(hash), 15)] }

// decide lets somebody decide on what it sees, and carry that out.
func (w *world) decide(who *decider) Decision {
	p := who.view.plan(w)
	if p == nil {
		return Decision{}
	}
	if op := who.view.snapshot.Operation; op.Plan == nil || (op.Plan.Hash != p.Hash && op.Spec.ApprovedPlan == p.Hash) {
		w.writeOperation(who, func() { w.op.Plan, w.inputs = p.Summary(), w.inputs+1 })
		return Decision{State: Running}
	}
	v := newView(p, who.view.snapshot, w.now)
	v.gates = gatesOf(w.without)
	d := next(v)
	w.tally.decisions++
	w.checkDecision(&d)
	if w.dice != nil && w.dice.IntN(200) == 0 {
		w.checkPure(who, p, &d)
	}
	w.carryOut(who, &d)
	if w.tale != nil && who.fresh {
		w.tale.decided(w.now, &d)
	}
	return d
}

// checkPure: deciding is a function of its input, leaves it as it was, and does not care in which order nodes are listed.
func (w *world) checkPure(who *decider, p *Plan, d *Decision) {
	again := w.see().snapshot // equal, and not the same
	if !who.fresh {
		again = who.view.snapshot
	}
	mixed := *again
	mixed.Nodes = slices.Clone(again.Nodes)
	w.dice.Shuffle(len(mixed.Nodes), func(i, j int) { mixed.Nodes[i], mixed.Nodes[j] = mixed.Nodes[j], mixed.Nodes[i] })
	mixed.APIServers = slices.Clone(again.APIServers)
	slices.Reverse(mixed.APIServers)
	v := newView(p, &mixed, w.now)
	v.gates = gatesOf(w.without)
	if other := next(v); !reflect.DeepEqual(other, *d) {
		w.broke("the order of the nodes changes the decision: %q %v %v, not %q %v %v", other.Message, other.Actions, other.Waiting, d.Message, d.Actions, d.Waiting)
	}
	w.require(reflect.DeepEqual(who.view.snapshot, again), "deciding has changed what was seen")
	anew, err := Make(again, again.Operation.Spec)
	w.require(err == nil && anew.Hash == p.Hash, "the plan's hash is not the same when it is made again")
}

// council is who decides in a simulation: a leader, and those who were and have not noticed yet.
type council struct {
	leader  *decider
	deposed []*decider
	lag     int // how many sightings the leader's view is behind
	half    bool
	born    int
}

// sit lets everybody decide once, and returns what the leader decided.
func (c *council) sit(w *world) Decision {
	lag := c.lag
	for lag > 0 && w.ago(lag).at.Before(c.leader.since) {
		lag--
	}
	c.leader.view, c.leader.fresh, c.leader.since = w.ago(lag), lag == 0, w.ago(lag).at
	if c.half && lag > 0 {
		c.leader.view = w.halfOld(lag)
	}
	d := w.decide(c.leader)
	for _, old := range c.deposed {
		if w.dice.IntN(2) == 0 {
			w.decide(old)
		}
	}
	return d
}

// halfOld is what a decider sees that has just written the operation: that as it is, and the rest from a cache that lags.
func (w *world) halfOld(lag int) *sighting {
	out, now := *w.ago(lag), w.past[len(w.past)-1]
	s := *out.snapshot
	s.Releases = now.snapshot.Releases
	s.Operation, s.Others = now.snapshot.Operation, now.snapshot.Others
	out.snapshot, out.op = &s, now.op
	out.inputs, out.meaning = now.inputs, now.meaning
	if !slices.EqualFunc(s.Nodes, now.snapshot.Nodes, func(a, b cluster.Node) bool { return a.Name == b.Name }) {
		return w.ago(lag) // a plan of other nodes would be another plan
	}
	return &out
}

// trouble makes leaders die, come back with nothing in mind, and lag.
func (c *council) trouble(w *world, dice *rand.Rand) {
	switch dice.IntN(4) {
	case 0: // it dies for good
		c.born++
		c.leader = w.takeOver("a new leader")
	case 1: // it was only paused, and wakes up later
		old := *c.leader
		old.name, old.fresh, old.view = "a deposed leader", false, w.ago(dice.IntN(3))
		c.deposed = append(c.deposed[max(0, len(c.deposed)-1):], &old)
		c.leader = w.takeOver("a new leader")
	case 2:
		c.lag, c.half = 1+dice.IntN(6), dice.IntN(2) == 0
	case 3:
		c.lag, c.deposed = 0, nil
	}
}
