//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// Invariants, by their numbers in the list of faults.
const (
	quorum         = "I1: etcd below its quorum"
	maxUnavailable = "I2: more nodes unavailable than may be"
	skew           = "I3: versions that do not fit"
	budgets        = "I4: a budget that is not kept"
	fence          = "an order of an epoch that is over"
)

// monitor checks the invariants continuously and records violations.
type monitor struct {
	s *site

	mu     sync.Mutex
	looks  map[string]int
	broken []string

	servers servers
	nodes   nodes
	cordons map[string]int // number of cordons of each node
	// leaderChanges is the number of leader changes of etcd.
	leaderChanges int

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// watches lists all checks.
var watches = []func(*monitor, context.Context){
	(*monitor).watchEtcd,
	(*monitor).watchLeader,
	(*monitor).watchServers,
	(*monitor).watchNodes,
	(*monitor).watchBudgets,
	(*monitor).watchOrders,
}

// monitor starts the checks.
func (s *site) monitor(t *testing.T) *monitor {
	t.Helper()
	m := &monitor{s: s, looks: map[string]int{}, nodes: nodes{}, cordons: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	m.cancel = cancel
	for _, watch := range watches {
		m.group.Go(func() { watch(m, ctx) })
	}
	return m
}

// stop ends the checks and fails the test if an invariant was violated.
func (m *monitor) stop(t *testing.T) {
	t.Helper()
	m.cancel()
	m.group.Wait()
	m.tell(t)
}

func (m *monitor) tell(t *testing.T) {
	t.Helper()
	for _, what := range m.wanted() {
		t.Logf("%s: looked %d times", what, m.looks[what])
		if m.looks[what] == 0 {
			t.Errorf("%s: nobody could look", what)
		}
	}
	show(t, "upgrade_invariants_broken", float64(len(m.broken)), "times")
	for _, one := range m.broken {
		t.Error(one)
	}
}

// wanted returns the invariants that apply to this cluster.
func (m *monitor) wanted() []string {
	all := []string{maxUnavailable, skew, fence}
	if m.s.Spec().ControlPlanes > 2 {
		all = append(all, quorum)
	}
	if m.s.Spec().Workers > 1 {
		all = append(all, budgets)
	}
	slices.Sort(all)
	return all
}

// look records a check and, if broken is not empty, a violation.
func (m *monitor) look(what, broken string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks[what]++
	if broken != "" {
		m.broken = append(m.broken, fmt.Sprintf("%s  %s: %s", time.Now().Format("15:04:05.0"), what, fmt.Sprintf(broken, args...)))
	}
}

// every calls do repeatedly until the context ends.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
