package main

import (
	"fmt"
	"io"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/install"
)

// tale tells a person who waits how far each node is, a line each. Of many nodes it tells now and then how many are done, and always who fails.
type tale struct {
	out  io.Writer
	done string // the word for a node that is
	last int    // how many twentieths of many nodes were told
}

// manyNodes is more than anybody reads a line of each of.
const manyNodes = 50

func newTale(a *app, done string) *tale { return &tale{out: a.err, done: done} }

func (t *tale) told() install.Told { return install.Told{Doing: t.step, Node: t.node, Pod: t.pod} }

func (t *tale) doing(what string) { fmt.Fprintln(t.out, text.Clean(what)) }

// step tells a step in the middle of a sentence's case.
func (t *tale) step(what string) {
	if what != "" && what[0] >= 'a' && what[0] <= 'z' {
		what = string(what[0]-'a'+'A') + what[1:]
	}
	t.doing(what)
}

func (t *tale) node(n install.NodeProgress, done, of int) {
	line := fmt.Sprintf("  %s: %s", n.Node, text.State(string(n.State), t.done))
	if n.Why != "" {
		line += ": " + n.Why
	}
	switch many := of > manyNodes; {
	case n.State == install.Done && many:
		if twentieth := done * 20 / of; twentieth > t.last {
			t.last = twentieth
			t.doing(fmt.Sprintf("  %d of %d %s", done, of, t.done))
		}
		return
	case n.State == install.Done:
		line += fmt.Sprintf(" (%d of %d)", done, of)
	case many && n.State != install.Failing:
		return
	}
	t.doing(line)
}

func (t *tale) pod(p install.PodProgress) {
	line := fmt.Sprintf("  %s: %s", p.Pod, text.State(string(p.State), "running"))
	if p.Why != "" {
		line += ": " + p.Why
	}
	t.doing(line)
}
