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

// What may never happen, by the numbers of the list of faults.
const (
	quorum         = "I1: etcd below its quorum"
	maxUnavailable = "I2: more nodes unavailable than may be"
	skew           = "I3: versions that do not fit"
	budgets        = "I4: a budget that is not kept"
	fence          = "an order of an epoch that is over"
)

// monitor looks all the while whether what may never happen happens, and remembers it.
type monitor struct {
	s *site

	mu     sync.Mutex
	looks  map[string]int
	broken []string

	servers servers
	nodes   nodes
	cordons map[string]int // how often each node was cordoned
	// leaderChanges is how often another member of etcd led than before.
	leaderChanges int

	cancel context.CancelFunc
	group  sync.WaitGroup
}

// watches is the list of everything that is looked at.
var watches = []func(*monitor, context.Context){
	(*monitor).watchEtcd,
	(*monitor).watchLeader,
	(*monitor).watchServers,
	(*monitor).watchNodes,
	(*monitor).watchBudgets,
	(*monitor).watchOrders,
}

// monitor begins to look.
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

// stop ends it, and fails the test if something was seen that may never happen.
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

// wanted is what there is to look at in this cluster.
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

// look notes that something was looked at, and that it was as it may never be, if so.
func (m *monitor) look(what, broken string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks[what]++
	if broken != "" {
		m.broken = append(m.broken, fmt.Sprintf("%s  %s: %s", time.Now().Format("15:04:05.0"), what, fmt.Sprintf(broken, args...)))
	}
}

// every does something again and again until the context ends.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) {
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
