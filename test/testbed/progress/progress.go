package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// heartbeat is the interval at which a running step is reported.
const heartbeat = 30 * time.Second

// Reporter writes a line when a step starts, regularly while it runs, and when it finishes. It is
// safe for concurrent use: steps may overlap.
type Reporter struct {
	mu      sync.Mutex
	out     io.Writer
	started time.Time
}

// New returns a Reporter that writes to out and counts from now.
func New(out io.Writer) *Reporter {
	return &Reporter{out: out, started: time.Now()}
}

// Discard returns a Reporter without output.
func Discard() *Reporter { return New(io.Discard) }

// Printf writes one line outside of a step.
func (r *Reporter) Printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%8s  %s\n", Seconds(time.Since(r.started)), fmt.Sprintf(format, args...))
}

// Write writes whole lines between the Reporter's own.
func (r *Reporter) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(text)
}

// Elapsed returns the time since the Reporter was created.
func (r *Reporter) Elapsed() time.Duration { return time.Since(r.started) }

// Step runs work and reports its start and its result. estimate is the usual duration on a small
// machine, or zero.
func (r *Reporter) Step(name string, estimate time.Duration, work func() error) error {
	usually := ""
	if estimate > 0 {
		usually = fmt.Sprintf(" (usually about %s)", Seconds(estimate))
	}
	r.Printf("%s …%s", name, usually)
	started := time.Now()
	stop := r.beat(name, started, usually)
	err := work()
	stop()
	took := time.Since(started)
	if err != nil {
		r.Printf("%s: failed after %s", name, Seconds(took))
		return err
	}
	r.Printf("%s: %s", name, Seconds(took))
	return nil
}

// beat reports a running step at every heartbeat until stop is called.
func (r *Reporter) beat(name string, started time.Time, usually string) (stop func()) {
	quit := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				r.Printf("%s: running for %s%s", name, Seconds(time.Since(started)), usually)
			}
		}
	}()
	return func() {
		close(quit)
		<-finished
	}
}

// Seconds formats a duration for display: 0.4s, 12.3s, 3m05s.
func Seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
