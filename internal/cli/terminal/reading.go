package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/refit-dev/refit/internal/cli/text"
)

// Reading reports which part of a cluster or a source is being read, and for how long: on a
// terminal in one line that changes and disappears at the end, otherwise in a line per part,
// if verbose.
type Reading struct {
	out   io.Writer // nil: quiet
	line  bool      // one line that changes
	width int
	name  string // of the cluster or the source
	now   func() time.Time
	start time.Time
	stop  chan struct{}
	ended sync.WaitGroup

	mu   sync.Mutex
	what string
}

// NewReading starts to report what is read from the named cluster or source.
func (s *Streams) NewReading(name string, verbose bool) *Reading {
	p := &Reading{name: name, now: s.Now, start: s.Now(), stop: make(chan struct{})}
	columns, terminal := s.columns(s.Err)
	if terminal || verbose {
		p.out = s.Err
	}
	if terminal {
		p.line, p.width = true, columns
		p.ended.Go(p.tick)
	}
	return p
}

// tick updates the elapsed time, so that a slow server is not mistaken for a hung process.
func (p *Reading) tick() {
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

// Part reports the part that is being read now.
func (p *Reading) Part(what string) {
	p.mu.Lock()
	p.what = what
	p.mu.Unlock()
	p.show()
}

// Last is the part that was read last.
func (p *Reading) Last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.what
}

func (p *Reading) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	line := []rune(text.Clean(fmt.Sprintf("Reading %s, %.0f s: %s", p.name, p.now().Sub(p.start).Seconds(), p.what)))
	if !p.line {
		fmt.Fprintln(p.out, string(line))
		return
	}
	// A line that wraps cannot be erased.
	fmt.Fprintf(p.out, "\r\x1b[K%s", string(line[:min(len(line), max(1, p.width-1))]))
}

// End erases the line.
func (p *Reading) End() {
	close(p.stop)
	p.ended.Wait()
	if p.line {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
