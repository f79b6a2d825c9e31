package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// tale is what happened and what Refit did about it, for people. What goes on as before is told once.
type tale struct {
	lines   []string
	acts    map[string]string // the last act on each node
	waiting []string
	state   State
	pending []Action // acts of one decision that are not told yet
}

func newTale() *tale { return &tale{acts: map[string]string{}} }

func (t *tale) line(at time.Time, format string, args ...any) {
	t.lines = append(t.lines, clock(at)+"  "+fmt.Sprintf(format, args...))
}

// happens tells what happened to the cluster.
func (t *tale) happens(at time.Time, text string) {
	if event := strings.TrimLeft(text, "!* "); event != text {
		t.line(at, "* %s", event)
		return
	}
	t.line(at, "    %s", text)
}

// told tells an act that was carried out, or refused by its fence.
func (w *world) told(who *decider, a *Action, done bool) {
	t := w.tale
	if t == nil {
		return
	}
	text := string(a.Kind) + a.Reason + fmt.Sprint(done, a.Delete)
	if t.acts[a.Node] == text {
		return
	}
	t.acts[a.Node] = text
	if !done {
		t.line(w.now, "%s wants to %s %s and is refused: it decided on an old view", who.name, verbs[a.Kind], a.Node)
		return
	}
	t.pending = append(t.pending, *a)
	if !who.fresh {
		t.pending[len(t.pending)-1].Reason += " (says " + who.name + ")"
		t.flush(w.now)
	}
}

var verbs = map[ActionKind]string{
	RequestReport: "ask", Prefetch: "fetch on", Claim: "claim", Cordon: "cordon", Drain: "drain", Apply: "upgrade",
	Rollback: "put back", Hold: "hold", Skip: "skip", FailDrain: "give up", StartTrial: "try", Uncordon: "uncordon", ReleaseNode: "free", Finish: "finish",
}

// flush tells the acts of one decision; those of one kind for one reason in one line.
func (t *tale) flush(at time.Time) {
	for len(t.pending) > 0 {
		first := t.pending[0]
		var on []string
		var rest []Action
		for _, a := range t.pending {
			if a.Kind == first.Kind && a.Reason == first.Reason && (a.Release == nil || *a.Release == *first.Release) {
				on = append(on, a.Node)
				continue
			}
			rest = append(rest, a)
		}
		what := strings.TrimSpace(verbs[first.Kind] + " " + strings.Join(on, ", "))
		if first.Kind == Apply || first.Kind == Prefetch {
			what += " (" + first.Release.Name + ")"
		}
		t.line(at, "%s: %s", what, first.Reason)
		t.pending = rest
	}
}

// decided tells the acts of a decision, and what it waits for if that is new.
func (t *tale) decided(at time.Time, d *Decision) {
	t.flush(at)
	var waiting []string
	for i := range d.Waiting {
		wait := &d.Waiting[i]
		if !wait.ManualIntervention && (wait.Reason == refitv1alpha1.ReasonProgressing && wait.Until.IsZero() || wait.Reason == refitv1alpha1.ReasonReportMissing ||
			wait.Reason == refitv1alpha1.ReasonTrialRunning) {
			continue // that is said by what is being done
		}
		text := "waits: " + wait.Message
		if wait.ManualIntervention {
			text += "\n          a person is needed: " + wait.Remedy
		}
		waiting = append(waiting, text)
		if !slices.Contains(t.waiting, text) {
			t.line(at, "%s", text)
		}
	}
	t.waiting = waiting
	if d.State != t.state {
		t.line(at, "[%s] %s", d.State, d.Message)
		t.state = d.State
	}
}

func (t *tale) String() string { return strings.Join(t.lines, "\n") + "\n" }
