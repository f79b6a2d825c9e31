package preflight

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Input is everything that checks may read.
type Input struct {
	Snapshot *cluster.Snapshot
	Spec     refitv1alpha1.ClusterUpgradeSpec // defaulted by newView
	Path     skew.Path                        // from the current version to the target
	Now      time.Time
}

// Report contains all findings, sorted by severity, then by check, then by object. It is never
// truncated; printers fold similar findings.
type Report struct {
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`

	answers answers
}

// Decides reports whether the report has an answer for the check and the object of a waiver. If it
// has none, the waiver may match a finding of a later report.
func (r *Report) Decides(w refitv1alpha1.Waiver) bool { return r.answers.decide(w) }

// Summary counts checks and findings. Each finding counts once, except that Unknown overlaps the
// other counters.
type Summary struct {
	Checks int `json:"checks"` // answered checks
	// Unanswered counts checks without an answer for at least one node: a part was not read, or an
	// agent is missing.
	Unanswered int `json:"unanswered,omitempty"`
	Blocks     int `json:"blocks,omitempty"` // findings that block the upgrade
	// Deferred counts findings that block until an agent or a ClusterRelease exists.
	Deferred int `json:"deferred,omitempty"`
	Warns    int `json:"warns,omitempty"`
	Infos    int `json:"infos,omitempty"`
	Waived   int `json:"waived,omitempty"`
	Unknown  int `json:"unknown,omitempty"` // of all findings
}

// Blocked reports whether a finding keeps the upgrade from being planned for execution.
func (r *Report) Blocked() bool { return r.Summary.Blocks > 0 }

// Strict returns the report for an upgrade that is about to start: deferred findings block it.
func (r Report) Strict() Report {
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Severity == Block && f.Deferred && f.Waived == nil {
			f.Deferred = false
			r.Summary.Deferred--
			r.Summary.Blocks++
		}
	}
	return r
}

// Run evaluates every check.
func Run(in Input) Report {
	v := newView(in)
	var findings []Finding
	waiting := map[cluster.Part][]string{}
	answers := answers{unread: map[string]bool{}, waiting: map[string]bool{}, reporting: map[string]bool{}}
	for _, check := range checks {
		if parts := v.unread(check.Needs); len(parts) > 0 {
			for _, part := range parts {
				waiting[part] = append(waiting[part], check.ID)
			}
			answers.unread[check.ID] = true
			continue
		}
		found := check.find(v)
		for i := range found {
			found[i].Check, found[i].Binding = check.ID, check.Binding()
			if found[i].Severity == "" {
				found[i].Severity = check.Severity
			}
			if check.NeedsAgent() && !found[i].live && found[i].ReportTime.IsZero() {
				found[i].ReportTime = v.reportTime(found[i].Object)
			}
		}
		findings = append(findings, found...)
	}
	missing, waitingForAgent := v.agentless()
	for _, id := range waitingForAgent {
		answers.waiting[id] = true
	}
	for _, n := range v.reported() {
		answers.reporting[n.Name] = true
	}
	switch unread := len(v.unread([]cluster.Part{cluster.PartReports})) > 0; {
	case !unread:
		findings = append(findings, agentMissing(v, missing, waitingForAgent)...)
	case len(waitingForAgent) > 0: // PartUnreadable reports that the NodeReports were not read
		waiting[cluster.PartReports] = waitingForAgent
	}
	findings = append(findings, partUnreadable(v, waiting)...)
	findings = v.waive(findings, &answers)
	order(findings)
	return Report{Findings: findings, Summary: summarize(findings, answers.count()), answers: answers}
}

func summarize(findings []Finding, unanswered int) Summary {
	sum := Summary{Checks: len(checks) - unanswered, Unanswered: unanswered}
	for i := range findings {
		f := &findings[i]
		if f.Unknown {
			sum.Unknown++
		}
		switch {
		case f.Waived != nil:
			sum.Waived++
		case f.Severity == Block && f.Deferred:
			sum.Deferred++
		case f.Severity == Block:
			sum.Blocks++
		case f.Severity == Warn:
			sum.Warns++
		default:
			sum.Infos++
		}
	}
	return sum
}
