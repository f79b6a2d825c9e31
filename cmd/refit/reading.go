package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/cli/text"
)

// reading tells a person who waits what is being read and for how long already: on a terminal in one line that changes and goes away at the end,
// elsewhere, if it is asked for, in a line for each thing.
type reading struct {
	out   io.Writer // nil: tell nobody
	line  bool      // one that changes
	width int
	name  string // of the cluster
	now   func() time.Time
	begun time.Time
	stop  chan struct{}
	ended sync.WaitGroup

	mu   sync.Mutex
	what string
}

func newReading(a *app, name string, verbose bool) *reading {
	p := &reading{name: name, now: a.now, begun: a.now(), stop: make(chan struct{})}
	columns, terminal := a.terminal(a.err)
	if terminal || verbose {
		p.out = a.err
	}
	if terminal {
		p.line, p.width = true, columns
		p.ended.Go(p.tick)
	}
	return p
}

// tick keeps the elapsed time moving, so that a slow server is not mistaken for a hung program.
func (p *reading) tick() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.show()
		}
	}
}

// doing says what is being read now.
func (p *reading) doing(what string) {
	p.mu.Lock()
	p.what = what
	p.mu.Unlock()
	p.show()
}

// last is what was read last.
func (p *reading) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.what
}

func (p *reading) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	line := []rune(text.Clean(fmt.Sprintf("Reading %s, %.0f s: %s", p.name, p.now().Sub(p.begun).Seconds(), p.what)))
	if !p.line {
		fmt.Fprintln(p.out, string(line))
		return
	}
	// A line that wraps cannot be taken back.
	fmt.Fprintf(p.out, "\r\x1b[K%s", string(line[:min(len(line), max(1, p.width-1))]))
}

// end takes the line away.
func (p *reading) end() {
	close(p.stop)
	p.ended.Wait()
	if p.line {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
