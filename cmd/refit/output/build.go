package output

import (
	"cmp"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Facts is what a Report is made of.
type Facts struct {
	Name     string // of the cluster, for people
	Saved    string // the file that the Snapshot was read from
	Snapshot *cluster.Snapshot
	From, To string
	Scope    refitv1alpha1.Scope
	Seen     preflight.Report
	Plan     *plan.Plan // nil for `refit check`
}

// New makes a Report.
func New(f Facts) *Report {
	r := &Report{
		APIVersion: APIVersion,
		Kind:       KindCheck,
		Cluster:    clusterOf(f),
		Request:    Request{From: f.From, To: f.To, Scope: string(f.Scope)},
		Blocked:    f.Seen.Blocked(),
		Counts:     countsOf(f.Seen.Summary),
		Findings:   []Finding{}, // a script wants a list, not null
	}
	for i := range f.Seen.Findings {
		r.Findings = append(r.Findings, findingOf(&f.Seen.Findings[i]))
	}
	if f.Plan != nil {
		r.Kind = KindPlan
		r.Plan = planOf(f.Plan)
	}
	return r
}

func clusterOf(f Facts) Cluster {
	s := f.Snapshot
	c := Cluster{
		Name:         f.Name,
		UID:          s.UID,
		Version:      cmp.Or(f.From, s.Version),
		TakenAt:      s.TakenAt,
		Saved:        f.Saved,
		ControlPlane: len(s.ControlPlane()),
		Workers:      len(s.Workers()),
		Cost:         Cost{Requests: s.Cost.Requests, Bytes: s.Cost.Bytes, Pods: s.Cost.Pods, Milliseconds: s.Cost.Took.Milliseconds()},
	}
	for _, gap := range s.Gaps {
		c.Gaps = append(c.Gaps, Gap{Part: string(gap.Part), Object: gap.Object, Kind: string(gap.Kind), Message: gap.Message})
	}
	return c
}

func countsOf(s preflight.Summary) Counts {
	return Counts{
		Checks: s.Checks, Unanswered: s.Unanswered, Block: s.Blocks, Deferred: s.Deferred, Warn: s.Warns, Info: s.Infos, Waived: s.Waived, Unknown: s.Unknown,
	}
}

func findingOf(f *preflight.Finding) Finding {
	out := Finding{
		Check: f.Check, Severity: string(f.Severity), Blocks: f.Blocks(), Binding: f.Binding, Unknown: f.Unknown, Deferred: f.Deferred,
		Object: f.Object, Message: f.Message, Remedy: f.Remedy,
	}
	if f.Waived != nil {
		out.Waived = &Waiver{Object: f.Waived.Object, Reason: f.Waived.Reason}
	}
	return out
}
