package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// heartbeat is how long a step may be silent before it says that it is still at work.
const heartbeat = 30 * time.Second

// Reporter writes one line when a step begins, one while it is long under way,
// and one when it ends. It is safe for concurrent use: steps may overlap.
type Reporter struct {
	mu      sync.Mutex
	out     io.Writer
	started time.Time
}

// New returns a Reporter that writes to out and counts from now.
func New(out io.Writer) *Reporter {
	return &Reporter{out: out, started: time.Now()}
}

// Discard returns a Reporter that says nothing.
func Discard() *Reporter { return New(io.Discard) }

// Say writes one line that is no step.
func (r *Reporter) Say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%8s  %s\n", Seconds(time.Since(r.started)), fmt.Sprintf(format, args...))
}

// Write lets others write whole lines in between.
func (r *Reporter) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(text)
}

// Elapsed is the time since the Reporter was made.
func (r *Reporter) Elapsed() time.Duration { return time.Since(r.started) }

// Step runs work and says when it begins and how it ended. Usually is how long
// such work takes on a small machine, zero when that is not worth telling.
func (r *Reporter) Step(name string, usually time.Duration, work func() error) error {
	expect := ""
	if usually > 0 {
		expect = fmt.Sprintf(" (usually about %s)", Seconds(usually))
	}
	r.Say("%s …%s", name, expect)
	begun := time.Now()
	stop := r.beat(name, begun, expect)
	err := work()
	stop()
	took := time.Since(begun)
	if err != nil {
		r.Say("%s: failed after %s", name, Seconds(took))
		return err
	}
	r.Say("%s: %s", name, Seconds(took))
	return nil
}

// beat says every heartbeat that the step is still at work, until stopped.
func (r *Reporter) beat(name string, begun time.Time, expect string) (stop func()) {
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
				r.Say("%s: at it for %s%s", name, Seconds(time.Since(begun)), expect)
			}
		}
	}()
	return func() {
		close(quit)
		<-finished
	}
}

// Seconds formats a duration for a person: 0.4s, 12.3s, 3m05s.
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
