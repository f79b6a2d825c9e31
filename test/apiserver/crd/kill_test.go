//go:build apiserver

package crd

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/refit-dev/refit/test/apiserver"
)

const lanes = 4

// TestKilledActions kills each write of an expansion, a commit, its reversal and a restoration,
// before and after it, or some of them. The repetition must end as a run without a kill, and the
// rollback with the bytes of all objects in etcd as they were.
func TestKilledActions(t *testing.T) {
	t.Parallel()
	var kills, cycles, different atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for i := range lanes {
			if !full() && i > 0 {
				break
			}
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				l := newLane(t)
				l.upgrade()
				before := l.stored()
				actions := []action{l.expand(), l.commit(), l.unflip(), l.restore()}
				var states []string
				writes := 0
				for _, a := range actions {
					writes = max(writes, l.clean(a))
					states = append(states, l.state())
				}
				first, end := i, 2*writes
				if !full() {
					first, end = 7, 8 // each action has four writes
				}
				for n := first; n < end; n += lanes {
					for j, a := range actions {
						k := &apiserver.Killer{At: n/2 + 1, After: n%2 == 1}
						if l.run(a, k) {
							kills.Add(1)
							t.Logf("place %d of %d: %s killed at write %d (after: %v)", n+1, 2*writes, a.name, k.At, k.After)
						}
						if got := l.state(); got != states[j] {
							different.Add(1)
							t.Fatalf("%s killed at write %d (after: %v):\n%s\nwant\n%s", a.name, k.At, k.After, got, states[j])
						}
					}
					cycles.Add(1)
					same(t, before, l.stored())
				}
			})
		}
	})
	report(t, "crd_kills", float64(kills.Load()), "kills")
	report(t, "crd_killed_states_that_differ", float64(different.Load()), "states")
	report(t, "crd_lossless_rollbacks", float64(cycles.Load()), "rollbacks")
}

// same fails if the bytes of an object in etcd differ.
func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	for key, content := range want {
		if got[key] != content {
			t.Errorf("%s is\n%s\nwas\n%s", key, got[key], content)
		}
	}
}
