//go:build apiserver

package helm

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/refit-dev/refit/test/testbed/figure"
)

// tally counts the kills of all tests of a run, and what is wrong after them.
var tally counter

type counter struct {
	mu        sync.Mutex
	kills     int
	charts    []string
	stuck     int // releases that Helm refuses
	orphans   int // objects that an action without a kill does not leave
	different int // states that differ from those without a kill
}

func (c *counter) kill(chart string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills++
	if !slices.Contains(c.charts, chart) {
		c.charts = append(c.charts, chart)
	}
}

func (c *counter) count(got, want outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got.objects != want.objects || got.record != want.record {
		c.different++
	}
	c.orphans += max(0, strings.Count(got.objects, "---\n")-strings.Count(want.objects, "---\n"))
}

func (c *counter) isStuck() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stuck++
}

func (c *counter) print() error {
	if c.kills == 0 {
		return nil
	}
	return errors.Join(
		figure.Print("helm_kills", float64(c.kills), "kills"),
		figure.Print("helm_killed_charts", float64(len(c.charts)), "charts"),
		figure.Print("helm_killed_stuck_releases", float64(c.stuck), "releases"),
		figure.Print("helm_killed_orphans", float64(c.orphans), "objects"),
		figure.Print("helm_killed_states_that_differ", float64(c.different), "states"),
	)
}
