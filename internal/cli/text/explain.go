package text

import (
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Explain renders the page of `refit explain`: the state of a node in an upgrade, ending with
// the remedy.
func Explain(e *cliv1alpha1.Explanation, p Page, now time.Time) string {
	w := newWriter(p)
	word := map[string]run{
		cliv1alpha1.StateIdle: {"idle", plain}, cliv1alpha1.StateLeftOut: {"excluded", dim}, cliv1alpha1.StateWaiting: {"waiting", yellow},
		cliv1alpha1.StateActive: {"active", green}, cliv1alpha1.StateRefused: {"order rejected by the agent", red}, cliv1alpha1.StateFailed: {"FAILED", red},
		cliv1alpha1.StateSkipped: {"skipped", yellow}, cliv1alpha1.StateDone: {"done", green},
	}[e.State]
	w.para(0, as(bold, e.Node+":"), word)
	w.para(0, as(plain, e.Message))
	w.blank()
	w.fact("Node", hostSummary(&e.Host, now))
	w.fact("Agent", agentSummary(&e.Host, now))
	if o := e.Operation; o != nil {
		w.fact("Operation", fmt.Sprintf("%s to %s, %s", o.Name, o.To, o.Phase))
	}
	w.ordered(e, now)
	w.steps(e.Steps, now, nil)
	w.logTail(e.Error)
	if e.Remedy != "" {
		w.section("Remedy")
		w.remedy(2, e.Remedy)
	}
	return w.String()
}

func hostSummary(h *cliv1alpha1.HostFacts, now time.Time) string {
	out := "worker"
	if h.ControlPlane {
		out = "control plane"
	}
	if h.Kubelet != "" {
		out += ", " + h.Kubelet
	}
	ready := ", ready"
	if !h.Ready {
		ready = ", NOT READY"
	}
	if !h.ReadySince.IsZero() {
		ready += " for " + phrase.Duration(now.Sub(h.ReadySince))
	}
	out += ready
	switch h.Cordon {
	case cliv1alpha1.CordonRefit:
		out += ", cordoned by Refit"
	case cliv1alpha1.CordonOther:
		out += ", cordoned by another user"
	}
	if h.ReadyMessage != "" {
		out += ": " + h.ReadyMessage
	}
	return out
}

func agentSummary(h *cliv1alpha1.HostFacts, now time.Time) string {
	if h.Agent == "" {
		return "none"
	}
	if h.ReportedAt.IsZero() {
		return h.Agent
	}
	return fmt.Sprintf("%s, last report %s ago", h.Agent, phrase.Duration(now.Sub(h.ReportedAt)))
}

// ordered writes the order to the agent, and the drain before it.
func (w *writer) ordered(e *cliv1alpha1.Explanation, now time.Time) {
	if o := e.Order; o != nil {
		summary := fmt.Sprintf("%s %s", o.Permit, o.Release)
		switch {
		case !o.Answered:
			summary += ", not observed by the agent yet"
		case o.Phase != "":
			summary += ", " + o.Phase
		}
		if e.Operation == nil || o.Operation != e.Operation.Name {
			summary += " (by the operation " + o.Operation + ")"
		}
		w.fact("Order", summary)
	}
	if d := e.Drain; d != nil {
		summary := strings.ToLower(d.Phase)
		if d.Remaining > 0 {
			summary += ", " + phrase.Count(d.Remaining, "pod") + " left"
		}
		summary += lasted(d.StartTime, d.CompletionTime, now)
		w.fact("Drain", summary)
		for _, b := range d.Blockers {
			w.para(gutter, as(yellow, b.Pod+":"), as(plain, b.Reason))
		}
	}
	if p := e.Progress; p != nil {
		activity, style := does(p)
		w.hang("Now", plain, gutter, as(style, activity))
	}
}

func lasted(from, to, now time.Time) string {
	switch {
	case from.IsZero():
		return ""
	case to.IsZero():
		return ", for " + Clock(now.Sub(from))
	}
	return ", took " + Clock(to.Sub(from))
}

// steps writes each step with its duration and, if there are words for them, what it does.
func (w *writer) steps(steps []cliv1alpha1.ExplainStep, now time.Time, words func(step string) string) {
	if len(steps) == 0 {
		return
	}
	w.section("Steps")
	t := &table{}
	for _, s := range steps {
		end := s.CompletionTime
		if end.IsZero() {
			end = now
		}
		clock := ""
		if !s.StartTime.IsZero() {
			clock = Clock(end.Sub(s.StartTime))
		}
		style := map[string]style{"Running": bold, "Failed": red, "Undone": yellow}[s.State]
		body := []run{as(style, strings.ToLower(s.State))}
		if words != nil {
			body = []run{as(style, strings.ToLower(s.State)+":"), as(dim, words(s.Name))}
		}
		t.row(row{indent: 2, name: s.Name, style: style, time: clock, body: body})
	}
	t.write(w)
}

// logTail writes the end of the failed component's log. It is not wrapped, so that it can be
// searched.
func (w *writer) logTail(e *cliv1alpha1.ExplainError) {
	if e == nil {
		return
	}
	w.section("Error", as(plain, fmt.Sprintf("(%s, %s, at %s)", e.Reason, e.Class, e.At.UTC().Format("15:04:05 UTC"))))
	w.para(2, as(plain, e.Message))
	if strings.TrimSpace(e.LogTail) == "" {
		return
	}
	w.section("Log", as(plain, "(its end)"))
	for line := range strings.SplitSeq(strings.TrimRight(e.LogTail, "\n"), "\n") {
		w.out.WriteString(strings.TrimRight("  "+Clean(line), " "))
		w.blank()
	}
}
