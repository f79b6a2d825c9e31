package text

import (
	"cmp"
	"fmt"
	"time"
	"unicode/utf8"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// The number of nodes that a page about an operation lists.
const (
	activeShown   = 12
	failuresShown = 5
)

// Status renders the page of `refit status`: the progress of an operation, and the next
// commands.
func Status(o *cliv1alpha1.Operation, p Page, now time.Time, line func(command string) string) string {
	w := newWriter(p)
	if p.Wide {
		w.operation(o, now, len(o.Active), len(o.Failures))
	} else {
		w.operation(o, now, activeShown, failuresShown)
	}
	w.after(o, line)
	return w.String()
}

// operation writes the progress of an operation, with at most so many active nodes.
func (w *writer) operation(o *cliv1alpha1.Operation, now time.Time, nodes, failures int) {
	w.operationHead(o, now)
	w.bars(o)
	w.active(o, now, nodes)
	w.failures(o, failures)
	w.doing(o, now)
}

// after writes the next commands.
func (w *writer) after(o *cliv1alpha1.Operation, line func(command string) string) {
	say := func(what string, commands ...string) {
		w.section("Next steps")
		w.para(2, as(plain, what))
		for _, c := range commands {
			w.command(c)
		}
	}
	switch refitv1alpha1.Phase(o.Phase) {
	case refitv1alpha1.PhaseAwaitingApproval:
		say("Review the plan, then approve it:", line("approve")+" "+o.Name+" --plan "+cmp.Or(o.ProposedPlan, o.Plan))
	case refitv1alpha1.PhasePaused:
		say("Resume the upgrade:", line("resume")+" "+o.Name)
	case refitv1alpha1.PhaseStalled:
		switch {
		case len(o.Failures) > 0 && o.Failures[0].Component != "":
			say("Show the cause, fix it, then retry:", line("components explain")+" "+o.Failures[0].Component, line("retry")+" "+o.Name)
		case len(o.Failures) > 0:
			say("Show the cause, fix it, then retry:", line("explain")+" "+o.Failures[0].Node, line("retry")+" "+o.Name)
		}
	case refitv1alpha1.PhaseAborted:
		if o.ComponentsOnly {
			say("Upgraded components keep the new version. Another upgrade of the components continues with the rest.")
			return
		}
		say("Upgraded nodes keep the new version. Another upgrade to it continues with the rest.")
	case refitv1alpha1.PhasePlanning, refitv1alpha1.PhaseWaiting, refitv1alpha1.PhaseRunning, refitv1alpha1.PhaseAborting, refitv1alpha1.PhaseSucceeded:
	}
}

func (w *writer) operationHead(o *cliv1alpha1.Operation, now time.Time) {
	word, style := state(o)
	w.para(0, as(bold, "Upgrade of "+route(o)+":"), as(style, word))
	more := "Operation " + o.Name + took(o, now)
	if o.LeftSeconds > 0 {
		more += ", " + about(cliv1alpha1.Estimate{Seconds: o.LeftSeconds}) + " left"
	}
	w.para(0, as(dim, more))
	if !o.UnreachableSince.IsZero() {
		w.para(0, as(yellow, fmt.Sprintf("The API server has been unreachable for %s; %s", Clock(now.Sub(o.UnreachableSince)), meansUnreachable(o))))
	}
}

// route is what the upgrade changes, and from which version to which.
func route(o *cliv1alpha1.Operation) string {
	switch {
	case o.ComponentsOnly:
		return fmt.Sprintf("the components of %s, on Kubernetes %s", part(o), o.To)
	case o.From == "":
		return fmt.Sprintf("%s to %s", part(o), o.To)
	}
	return fmt.Sprintf("%s from %s to %s", part(o), o.From, o.To)
}

// part is the scope of the upgrade.
func part(o *cliv1alpha1.Operation) string {
	return subject(&cliv1alpha1.Report{Request: cliv1alpha1.Request{Scope: o.Scope}, Cluster: cliv1alpha1.Cluster{Name: o.Cluster}})
}

// states are the phases in words.
var states = map[refitv1alpha1.Phase]run{
	refitv1alpha1.PhasePlanning:         {"planning", plain},
	refitv1alpha1.PhaseAwaitingApproval: {"waiting for approval", yellow},
	refitv1alpha1.PhaseWaiting:          {"waiting for an older operation", yellow},
	refitv1alpha1.PhaseRunning:          {"running", green},
	refitv1alpha1.PhasePaused:           {"paused", yellow},
	refitv1alpha1.PhaseStalled:          {"STALLED, action required", red},
	refitv1alpha1.PhaseAborting:         {"aborting", yellow},
	refitv1alpha1.PhaseSucceeded:        {"succeeded", green},
	refitv1alpha1.PhaseAborted:          {"aborted", red},
}

func state(o *cliv1alpha1.Operation) (string, style) {
	if state, known := states[refitv1alpha1.Phase(o.Phase)]; known {
		return state.text, state.style
	}
	return o.Phase, plain
}

// took is the duration so far, or in total.
func took(o *cliv1alpha1.Operation, now time.Time) string {
	if o.Ended {
		return ", ended after " + Clock(o.CompletionTime.Sub(o.StartTime))
	}
	return ", started " + Clock(now.Sub(o.StartTime)) + " ago"
}

// meansUnreachable explains the consequences of an unreachable API server.
func meansUnreachable(o *cliv1alpha1.Operation) string {
	for _, s := range o.Stages {
		if s.State == cliv1alpha1.StageInProgress && s.Name == string(refitv1alpha1.StageControlPlane) {
			return "this is expected during the upgrade of a control plane node"
		}
	}
	return "retrying: " + o.UnreachableError
}

// bars writes a bar for each stage.
func (w *writer) bars(o *cliv1alpha1.Operation) {
	widest := 0
	var shown []cliv1alpha1.StageProgress
	for _, s := range o.Stages {
		if s.Total > 0 || kindOf(s.Name).Always {
			shown = append(shown, s)
			widest = max(widest, utf8.RuneCountInString(stageTitle(&s)))
		}
	}
	if len(shown) == 0 {
		return
	}
	w.blank()
	length := min(40, max(10, w.width-widest-24))
	for i := range shown {
		w.bar(&shown[i], widest, length)
	}
}

func (w *writer) bar(s *cliv1alpha1.StageProgress, widest, length int) {
	full := 0
	switch {
	case s.State == cliv1alpha1.StageDone:
		full = length
	case s.Total > 0:
		full = s.Done * length / s.Total
	}
	style, count := dim, ""
	switch s.State {
	case cliv1alpha1.StageDone:
		style = green
	case cliv1alpha1.StageInProgress:
		style = bold
	}
	if s.Total > 0 && !kindOf(s.Name).Once {
		count = fmt.Sprintf("  %s of %s", phrase.Number(s.Done), phrase.Number(s.Total))
	}
	w.paint(as(plain, fmt.Sprintf("  %-*s  ", widest, Clean(stageTitle(s)))))
	w.paint(as(style, bar(full, length)))
	w.paint(as(plain, count))
	w.blank()
}

func stageTitle(s *cliv1alpha1.StageProgress) string {
	return title(&cliv1alpha1.Stage{Name: s.Name, Kubernetes: s.Kubernetes})
}

// failures writes the failed component and the failed nodes, with their remedies.
func (w *writer) failures(o *cliv1alpha1.Operation, most int) {
	if len(o.Failures) == 0 {
		return
	}
	if o.Nodes.Failed > 0 {
		w.section("Failed", as(plain, fmt.Sprintf("(%s of %s)", phrase.Number(o.Nodes.Failed), phrase.Count(o.Nodes.Total, "node"))))
	} else {
		w.section("Failed")
	}
	for i := range o.Failures {
		if i == most {
			w.para(2, as(dim, fmt.Sprintf("and %s more", phrase.Number(o.Nodes.Failed-i))))
			return
		}
		f := &o.Failures[i]
		w.para(2, as(red, failedSubject(f)+failedAt(f)+":"), as(plain, f.Message))
		w.remedy(4, f.Remedy)
	}
}

// doing writes the message of the operation, unless a line above has the same content.
func (w *writer) doing(o *cliv1alpha1.Operation, now time.Time) {
	if o.Ended || coveredByFailures(o) {
		return
	}
	w.blank()
	if o.Message == "" {
		w.para(0, as(plain, capital(notSeen)))
		return
	}
	body := []run{as(plain, o.Message)}
	if !o.Since.IsZero() {
		body = append(body, as(dim, "("+Clock(now.Sub(o.Since))+")"))
	}
	w.para(0, body...)
	w.remedy(2, o.Remedy)
}

// coveredByFailures reports whether the operation is stalled by failures, each of which is listed
// with its remedy.
func coveredByFailures(o *cliv1alpha1.Operation) bool {
	return len(o.Failures) > 0 && (o.Reason == refitv1alpha1.ReasonNodeFailed || o.Reason == refitv1alpha1.ReasonComponentFailed)
}

// notSeen is the message of an operation that is new, or that no controllers execute.
const notSeen = "no controller has observed it yet"
