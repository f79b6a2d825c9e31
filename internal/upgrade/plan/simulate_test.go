package plan

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSimulatedUpgrades upgrades random clusters under random events. It requires that no invariant
// is violated and that every operation ends.
//
// REFIT_SIMULATIONS is the number of clusters (CI: 25000). REFIT_SEED repeats one with its
// narrative.
func TestSimulatedUpgrades(t *testing.T) {
	if text := os.Getenv("REFIT_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("REFIT_SEED: %v", err)
		}
		run := simulate(seed, "", newNarrative())
		t.Log(run.story())
		if run.problem() != "" {
			t.Error(run.problem())
		}
		return
	}
	runs := 500
	if text := os.Getenv("REFIT_SIMULATIONS"); text != "" {
		var err error
		if runs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("REFIT_SIMULATIONS: %v", err)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(3000)) // many small worlds, each short-lived
	total := simulateMany(t, runs)
	for _, line := range total.figures() {
		fmt.Fprintln(os.Stdout, line)
	}
}

// total is the sum of many simulations.
type total struct {
	decisions, effects, refused, events, changes, components, succeeded, aborted atomic.Int64
}

func (s *total) add(r *run) {
	s.decisions.Add(int64(r.world.tally.decisions))
	s.effects.Add(int64(r.world.tally.effects))
	s.refused.Add(int64(r.world.tally.refused))
	s.events.Add(int64(r.world.tally.events))
	s.changes.Add(int64(r.world.tally.changes))
	s.components.Add(int64(r.world.tally.components))
	if r.world.op.end == Aborted {
		s.aborted.Add(1)
	} else {
		s.succeeded.Add(1)
	}
}

func (s *total) figures() []string {
	return []string{
		fmt.Sprintf("figure simulations %d runs", s.succeeded.Load()+s.aborted.Load()),
		fmt.Sprintf("figure simulations_succeeded %d runs", s.succeeded.Load()),
		fmt.Sprintf("figure simulations_aborted %d runs", s.aborted.Load()),
		fmt.Sprintf("figure simulated_decisions %d decisions", s.decisions.Load()),
		fmt.Sprintf("figure simulated_effects %d effects", s.effects.Load()),
		fmt.Sprintf("figure simulated_refusals %d effects", s.refused.Load()),
		fmt.Sprintf("figure simulated_changes %d hosts", s.changes.Load()),
		fmt.Sprintf("figure simulated_component_changes %d components", s.components.Load()),
		fmt.Sprintf("figure simulated_events %d events", s.events.Load()),
	}
}

func simulateMany(t *testing.T, runs int) *total {
	t.Helper()
	var sum total
	var next, failures atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				seed := next.Add(1)
				if int(seed) > runs || failures.Load() >= 3 {
					return
				}
				r := simulate(uint64(seed), "", nil)
				sum.add(r)
				if r.problem() != "" && failures.Add(1) <= 3 {
					again := simulate(uint64(seed), "", newNarrative())
					t.Errorf("seed %d (repeat with REFIT_SEED=%d):\n%s\n%s", seed, seed, again.story(), r.problem())
				}
			}
		})
	}
	group.Wait()
	return &sum
}

// run is one simulation.
type run struct {
	seed  uint64
	scene scenario
	world *world
	ended bool
	last  Decision
}

// The bounds of a simulation: events happen in its first part; then the user does what the
// operation requires.
const (
	eventfulSteps = 120
	mostSteps     = 1500
)

// simulate upgrades one random cluster. It depends on the seed alone.
func simulate(seed uint64, without GateName, t *narrative) *run {
	dice := rand.New(rand.NewPCG(seed, 0x4ef17))
	r := &run{seed: seed, scene: randomScenario(dice)}
	w := build(r.scene, dice)
	w.without, w.narrative, r.world = without, t, w
	w.drawClocks()
	c := &controllers{leader: w.takeOver("the leader")}
	w.record(w.observe())
	troubles := dice.IntN(10) // of sixty: how often an event happens
	for step := 0; step < mostSteps && len(w.violations) == 0; step++ {
		eventful := step < eventfulSteps
		if !eventful && (c.lag > 0 || len(c.deposed) > 0) {
			c.lag, c.deposed = 0, nil
		}
		if eventful && dice.IntN(60) < troubles {
			w.tally.events++
			if dice.IntN(4) == 0 {
				c.disrupt(w, dice)
			} else {
				events[dice.IntN(len(events))].happen(w)
			}
		}
		if !eventful {
			w.componentAgent.stopped = false
		}
		if !eventful && w.older != "" {
			olderEnds(w)
		}
		w.tickAll()
		if !w.reachable() {
			if !eventful {
				w.restoreAPI()
			}
			w.now = w.now.Add(tick)
			continue
		}
		w.raiseEpoch(c.leader)
		w.record(w.observe())
		r.last = c.decide(w)
		if r.over(w, c) {
			break
		}
		if !eventful || dice.IntN(8) == 0 {
			w.intervene(&r.last)
		}
		w.advanceTime(&r.last)
	}
	return r
}

// over reports whether the operation has ended and nothing of it is left.
func (r *run) over(w *world, c *controllers) bool {
	if !w.op.Ended || len(c.deposed) > 0 || c.lag > 0 {
		return false
	}
	for _, m := range w.machines {
		if m.cordonedBy != "" && !w.abandoned(m) || m.protectedBy != "" {
			return false
		}
	}
	r.ended = r.last.State.Ended() && len(r.last.Actions) == 0
	return r.ended
}

// advanceTime advances by a tick, or by more while nothing happens.
func (w *world) advanceTime(d *Decision) {
	next := w.now.Add(6 * tick)
	if len(d.Actions) > 0 || d.Message == "" {
		next = w.now.Add(tick)
	}
	parked := false
	if at := opensNext(d); at.After(next) {
		next, parked = at, true
		for _, before := range []time.Duration{backupLead, time.Hour, 30 * time.Minute, 10 * time.Minute} { // a backup gets too old
			if early := at.Add(-before); early.After(w.now) {
				next = early
				break
			}
		}
	}
	for _, m := range w.machines {
		due := next
		switch {
		case m.agent.stopped || m.agent.absent || parked && !m.agent.busy:
		case m.agent.busy:
			due = m.agent.next
		case m.report != nil && m.reportRequest > m.report.Answered, m.upgrade != nil && m.upgrade.Spec.Sequence > m.agent.memory.Sequence:
			due = w.now
		case m.trial.ends != (time.Time{}):
			due = m.trial.ends
		}
		if m.up && due.Before(next) {
			next = due
		}
	}
	if len(w.components) > 0 && w.componentAgent.next.After(w.now) && w.componentAgent.next.Before(next) {
		next = w.componentAgent.next
	}
	w.now = w.now.Add(max(tick, next.Sub(w.now)))
}

// problem describes the fault of a run, empty if there is none.
func (r *run) problem() string {
	switch {
	case len(r.world.violations) > 0:
		return "violated: " + strings.Join(r.world.violations, "\n")
	case !r.ended:
		return fmt.Sprintf("I8: the operation does not end: %s: %s %v", r.last.State, r.last.Message, r.last.Waiting)
	}
	return ""
}

func (r *run) story() string {
	if r.world.narrative == nil {
		return ""
	}
	return fmt.Sprintf("%+v\n%s", r.scene, r.world.narrative)
}
