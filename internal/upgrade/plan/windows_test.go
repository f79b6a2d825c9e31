package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/calendar"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// windowName is the name of the MaintenanceWindow of scenarios.
const windowName = "weekend"

func inWindow(window *refitv1alpha1.MaintenanceWindowSpec) func(*scenario) {
	return func(sc *scenario) { sc.window, sc.spec.Window = window, windowName }
}

// opens is a window with openings on each day: their starts and one duration.
func opens(duration time.Duration, starts ...string) *refitv1alpha1.MaintenanceWindowSpec {
	w := &refitv1alpha1.MaintenanceWindowSpec{TimeZone: "UTC", ControlPlane: refitv1alpha1.WindowWhole, Prefetch: refitv1alpha1.PrefetchAnytime}
	for _, start := range starts {
		w.Open = append(w.Open, refitv1alpha1.Opening{Start: start, Duration: metav1.Duration{Duration: duration}})
	}
	return w
}

// observeWindow adds the window to a Snapshot.
func (w *world) observeWindow(s *cluster.Snapshot) {
	if w.window != nil {
		s.Windows = []cluster.Window{{Name: windowName, Spec: *w.window}}
	}
}

// editWindow replaces the window; nil deletes it.
func (w *world) editWindow(window *refitv1alpha1.MaintenanceWindowSpec, what string) {
	w.note("%s", what)
	w.window, w.windowEdited = window, w.now
	w.inputs++
}

// opening is the present or next Span by the true clock. It is empty if there is none.
func (w *world) opening() calendar.Span {
	regular := w.regularOpening()
	until := w.op.Spec.OpenUntil
	overrides := until != nil && !w.now.After(until.Time) && until.Sub(w.now) <= longestOverride
	if overrides && (regular.Open.After(w.now) || until.After(regular.Close)) {
		return calendar.Span{Open: w.now, Close: until.Time}
	}
	return regular
}

func (w *world) regularOpening() calendar.Span {
	if w.window == nil {
		return calendar.Span{}
	}
	c, err := calendar.New(w.window)
	if err != nil {
		return calendar.Span{}
	}
	if s, open := c.At(w.now); open {
		return s
	}
	if last, found := c.Last(w.now); found && w.now.Sub(last.Close) <= w.slack() {
		return last
	}
	s, _ := c.Next(w.now)
	return s
}

// windowUnknown reports whether controllers may not know the window yet.
func (w *world) windowUnknown() bool {
	return w.now.Sub(w.windowEdited) < 20*tick && !w.windowEdited.IsZero()
}

// checkOpen checks that something happens only while the window is open (I13).
func (w *world) checkOpen(format string, args ...any) {
	if w.op.Spec.Window == "" || w.windowUnknown() {
		return
	}
	s := w.opening()
	open := !w.now.Add(w.slack()).Before(s.Open) && !w.now.Add(-w.slack()).After(s.Close)
	w.require(open, "I13: %s at %s while the window is closed", fmt.Sprintf(format, args...), w.now.Format("Mon 15:04:05"))
}

// checkFits checks that a change is ordered only if it fits into the window, as far as the times of
// earlier changes show (I13). An agent is told when it has to start.
func (w *world) checkFits(who *controller, m *machine) {
	if w.op.Spec.Window == "" || w.windowUnknown() {
		return
	}
	w.checkOpen("the change of %s is ordered", m.name)
	usual, nodes := 45*time.Second, 0
	if m.controlPlane {
		usual = 90 * time.Second
	}
	spec := policy.Defaulted(w.op.Spec)
	var longest time.Duration
	seen := 0
	for i := range who.view.snapshot.Nodes {
		n := &who.view.snapshot.Nodes[i]
		if n.ControlPlane != m.controlPlane {
			continue
		}
		if policy.Exclusion(&spec, n) == "" {
			nodes++
		}
		if n.Upgrade == nil || n.Upgrade.Status.Phase != refitv1alpha1.NodeSucceeded || n.Upgrade.Status.CompletionTime == nil || n.Upgrade.Status.StartTime == nil {
			continue
		}
		seen++
		longest = max(longest, n.Upgrade.Status.CompletionTime.Sub(n.Upgrade.Status.StartTime.Time))
	}
	needs := 3 * usual
	if seen >= min(5, nodes) {
		needs = longest * 3 / 2
	}
	s := w.opening()
	w.require(!w.now.Add(needs-w.slack()).After(s.Close), "I13: the change of %s needs %s, and the window closes in %s", m.name, needs, s.Close.Sub(w.now))
	at := m.upgrade.Spec.NotAfter
	w.require(at != nil && at.Time.Before(s.Close), "I13: the agent of %s has to start by %v, and the window closes at %s", m.name, at, s.Close)
}

// checkStart checks that an agent disrupts its host only as long as its order permits it (I13).
func (w *world) checkStart(m *machine) {
	if at := m.agent.order.NotAfter; at != nil {
		w.require(!w.now.After(at.Time), "I13: %s is disrupted after %s", m.name, clock(at.Time))
	}
}

// randomWindow draws a window for some of the operations.
func randomWindow(dice *rand.Rand, sc *scenario) {
	if dice.IntN(3) > 0 {
		return
	}
	inWindow(drawWindow(dice))(sc)
}

var windowZones = strings.Fields("UTC Europe/Berlin America/New_York America/Sao_Paulo Asia/Kolkata Asia/Kathmandu Australia/Lord_Howe Pacific/Auckland America/Santiago Africa/Casablanca")

func drawWindow(dice *rand.Rand) *refitv1alpha1.MaintenanceWindowSpec {
	w := &refitv1alpha1.MaintenanceWindowSpec{TimeZone: windowZones[dice.IntN(len(windowZones))]}
	for range 1 + dice.IntN(3) {
		o := refitv1alpha1.Opening{
			Start:    fmt.Sprintf("%02d:%02d", dice.IntN(24), dice.IntN(60)),
			Duration: metav1.Duration{Duration: time.Duration(2+dice.IntN([]int{8, 30, 240}[dice.IntN(3)])) * time.Minute},
		}
		if dice.IntN(3) == 0 {
			for _, day := range []refitv1alpha1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
				if dice.IntN(2) == 0 {
					o.Days = append(o.Days, day)
				}
			}
		}
		if dice.IntN(6) == 0 {
			o.Weeks = []int32{int32(1 + dice.IntN(4)), -1}
		}
		w.Open = append(w.Open, o)
	}
	for range dice.IntN(3) {
		from := simulationStart.Add(time.Duration(dice.IntN(20_000)) * time.Minute)
		w.Blackouts = append(w.Blackouts, refitv1alpha1.Blackout{
			Name: "sale", From: from.Format("2006-01-02T15:04"), To: from.Add(time.Duration(1+dice.IntN(4000)) * time.Minute).Format("2006-01-02T15:04"),
		})
	}
	if dice.IntN(2) == 0 {
		w.ControlPlane = refitv1alpha1.WindowNodeByNode
	}
	if dice.IntN(4) == 0 {
		w.Prefetch = refitv1alpha1.PrefetchInWindow
	}
	return w
}

// fixWindow is a user who opens the window for longer.
func (w *world) fixWindow() {
	longer := opens(24*time.Hour, "00:00")
	if w.dice != nil && w.dice.IntN(2) == 0 {
		longer = opens(5*time.Hour, "01:30")
		longer.TimeZone, longer.ControlPlane = "Europe/Berlin", refitv1alpha1.WindowNodeByNode
	}
	w.editWindow(longer, "* the user opens the window for longer")
}

func windowChanges(w *world) bool {
	if w.op.Spec.Window == "" || w.dice.IntN(4) > 0 {
		return false
	}
	if w.dice.IntN(5) == 0 {
		w.editWindow(nil, "! the user deletes the window")
		return true
	}
	w.editWindow(drawWindow(w.dice), "! the user changes the window")
	return true
}

func opensUntil(w *world) bool {
	if w.op.Spec.Window == "" || w.dice.IntN(4) > 0 {
		return false
	}
	until := stamp(w.now.Add(time.Duration(1+w.dice.IntN(1500)) * time.Minute))
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) { spec.OpenUntil = until }, "the user opens the window until %s", clock(until.Time))
	w.windowEdited = w.now
	return true
}

// opensNext is when something that only waits for the window goes on, zero if it does not.
func opensNext(d *Decision) (at time.Time) {
	if len(d.Actions) > 0 || d.progressing {
		return time.Time{}
	}
	for i := range d.Waiting {
		wait := &d.Waiting[i]
		if wait.Reason != refitv1alpha1.ReasonWindowClosed || wait.Until.IsZero() {
			return time.Time{}
		}
		if at.IsZero() || wait.Until.Before(at) {
			at = wait.Until
		}
	}
	return at
}
