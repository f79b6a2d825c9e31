package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// narrative records the events and Refit's actions, for operators. It omits what continues as
// before.
type narrative struct {
	lines       []string
	lastActions map[string]string // the last action on each node
	waiting     []string
	state       State
	pending     []Action // actions of one decision that are not written yet
}

func newNarrative() *narrative { return &narrative{lastActions: map[string]string{}} }

func (t *narrative) line(at time.Time, format string, args ...any) {
	t.lines = append(t.lines, clock(at)+"  "+fmt.Sprintf(format, args...))
}

// event writes an event of the cluster.
func (t *narrative) event(at time.Time, text string) {
	if event := strings.TrimLeft(text, "!* "); event != text {
		t.line(at, "* %s", event)
		return
	}
	t.line(at, "    %s", text)
}

// narrate writes an action that was executed, or refused by its fence.
func (w *world) narrate(who *controller, a *Action, done bool) {
	t := w.narrative
	if t == nil {
		return
	}
	text := string(a.Kind) + a.Reason + fmt.Sprint(done, a.Delete)
	if t.lastActions[a.Subject()] == text {
		return
	}
	t.lastActions[a.Subject()] = text
	if !done {
		t.line(w.now, "%s tries to %s %s and is refused: it decided on an old Snapshot", who.name, actionVerbs[a.Kind], a.Subject())
		return
	}
	t.pending = append(t.pending, *a)
	if !who.fresh {
		t.pending[len(t.pending)-1].Reason += " (by " + who.name + ")"
		t.flush(w.now)
	}
}

var actionVerbs = map[ActionKind]string{
	RequestReport: "request report from", Prefetch: "prefetch on", Claim: "claim", Cordon: "cordon", Drain: "drain", Apply: "upgrade",
	Rollback: "roll back", Hold: "hold", Skip: "skip", FailDrain: "fail the drain of", StartTrial: "start trial on", Uncordon: "uncordon",
	ApplyComponent: "change component", HoldComponent: "hold component",
	CreateBackup: "back up etcd", DeleteBackup: "cancel the backup",
	Protect: "protect", Unprotect: "unprotect", ReleaseNode: "release", Finish: "finish",
}

// flush writes the actions of one decision, with one line for each kind and reason.
func (t *narrative) flush(at time.Time) {
	for len(t.pending) > 0 {
		first := t.pending[0]
		var on []string
		var rest []Action
		for _, a := range t.pending {
			if a.Kind == first.Kind && a.Reason == first.Reason && (a.Release == nil || *a.Release == *first.Release) {
				on = append(on, a.Subject())
				continue
			}
			rest = append(rest, a)
		}
		what := strings.TrimSpace(actionVerbs[first.Kind] + " " + strings.Join(on, ", "))
		if c := first.Component; c != nil {
			what += fmt.Sprintf(" (%s %s)", c.Action, c.Version)
		}
		if first.Kind == Apply || first.Kind == Prefetch {
			what += " (" + first.Release.Name + ")"
		}
		t.line(at, "%s: %s", what, first.Reason)
		t.pending = rest
	}
}

// decided writes the actions of a decision, and what it waits for if that is new.
func (t *narrative) decided(at time.Time, d *Decision) {
	t.flush(at)
	var waiting []string
	for i := range d.Waiting {
		wait := &d.Waiting[i]
		if !wait.ManualIntervention && (wait.Reason == refitv1alpha1.ReasonProgressing && wait.Until.IsZero() || wait.Reason == refitv1alpha1.ReasonReportMissing ||
			wait.Reason == refitv1alpha1.ReasonTrialRunning) {
			continue // the actions show it
		}
		text := "waiting: " + wait.Message
		if wait.ManualIntervention {
			text += "\n          manual intervention required: " + wait.Remedy
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

func (t *narrative) String() string { return strings.Join(t.lines, "\n") + "\n" }
