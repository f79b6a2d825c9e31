package preflight

import (
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Input is everything that checks may look at.
type Input struct {
	Snapshot *cluster.Snapshot
	Spec     refitv1alpha1.ClusterUpgradeSpec // the policy, with its defaults
	Path     skew.Path                        // the way to the target
	Now      time.Time
}

// Report is what all checks saw: what blocks first, then by the order of the list, then by object. It is complete, whatever its length: whoever prints it
// folds what is alike.
type Report struct {
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
}

// Summary counts checks and their findings. Each finding counts once, but for Unknown.
type Summary struct {
	Checks     int `json:"checks"`               // that have an answer
	Unanswered int `json:"unanswered,omitempty"` // checks that have none, or only for some of the nodes: a part could not be read, or an agent is missing
	Blocks     int `json:"blocks,omitempty"`     // that keep the upgrade from starting
	Deferred   int `json:"deferred,omitempty"`   // that wait for an agent or a ClusterRelease, and block until then
	Warns      int `json:"warns,omitempty"`
	Infos      int `json:"infos,omitempty"`
	Waived     int `json:"waived,omitempty"`
	Unknown    int `json:"unknown,omitempty"` // of all these
}

// Blocked says whether a finding keeps the upgrade from being planned for execution.
func (r *Report) Blocked() bool { return r.Summary.Blocks > 0 }

// Strict is the report for an upgrade that is about to start: deferred findings block it.
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

// Run asks every check.
func Run(in Input) Report {
	v := newView(in)
	var findings []Finding
	waiting := map[cluster.Part][]string{}
	unanswered := map[string]bool{}
	for _, check := range checks {
		if parts := v.unread(check.Needs); len(parts) > 0 {
			for _, part := range parts {
				waiting[part] = append(waiting[part], check.ID)
			}
			unanswered[check.ID] = true
			continue
		}
		found := check.find(v)
		for i := range found {
			found[i].Check, found[i].Binding = check.ID, check.Binding()
			if found[i].Severity == "" {
				found[i].Severity = check.Severity
			}
		}
		findings = append(findings, found...)
	}
	without, late := v.agentless()
	for _, id := range late {
		unanswered[id] = true
	}
	switch unread := len(v.unread([]cluster.Part{cluster.PartReports})) > 0; {
	case !unread:
		findings = append(findings, agentMissing(v, without, late)...)
	case len(late) > 0: // then nobody knows whether there are agents, and PartUnreadable tells of it
		waiting[cluster.PartReports] = late
	}
	findings = append(findings, partUnreadable(v, waiting)...)
	findings = waive(findings, in.Spec.Waivers)
	order(findings)
	return Report{Findings: findings, Summary: summarize(findings, len(unanswered))}
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
