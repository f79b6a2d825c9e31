package preflight

import (
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

// Report is what all checks saw: what blocks first, then by the order of the list, then by object.
type Report struct {
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
}

// Summary counts findings as they were before similar ones were folded into one. Each finding counts once, but for Unknown.
type Summary struct {
	Checks   int `json:"checks"`             // that there are
	Blocks   int `json:"blocks,omitempty"`   // that keep the upgrade from starting
	Deferred int `json:"deferred,omitempty"` // that wait for an agent or a Release, and block until then
	Warns    int `json:"warns,omitempty"`
	Infos    int `json:"infos,omitempty"`
	Waived   int `json:"waived,omitempty"`
	Unknown  int `json:"unknown,omitempty"` // of all these
}

// Blocked says whether a finding keeps the upgrade from being planned for execution.
func (r *Report) Blocked() bool { return r.Summary.Blocks > 0 }

// Run asks every check.
func Run(in Input) Report {
	v := newView(in)
	var findings []Finding
	waiting := map[cluster.Part][]string{}
	for _, check := range checks {
		if part, unread := v.unread(check.Needs); unread {
			waiting[part] = append(waiting[part], check.ID)
			continue
		}
		found := check.find(v)
		for i := range found {
			found[i].Check = check.ID
			if found[i].Severity == "" {
				found[i].Severity = check.Severity
			}
		}
		findings = append(findings, found...)
	}
	findings = append(findings, partUnreadable(v, waiting)...)
	findings = append(findings, agentMissing(v)...)
	findings = waive(findings, in.Spec.Waivers)
	order(findings)
	return Report{Findings: fold(findings), Summary: summarize(findings)}
}

func summarize(findings []Finding) Summary {
	sum := Summary{Checks: len(checks)}
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
