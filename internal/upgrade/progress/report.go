package progress

import (
	"cmp"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Facts is the input of a Report.
type Facts struct {
	Name     string // the user's name for the cluster
	Saved    string // the file that the Snapshot was read from, empty for a live cluster
	Snapshot *cluster.Snapshot
	From, To string
	Scope    refitv1alpha1.Scope
	// Components is true for an upgrade of components alone.
	Components bool
	Findings   preflight.Report
	Plan       *plan.Plan // nil for `refit check`
}

// NewReport returns the result of a check and, if there is a Plan, of a plan.
func NewReport(f Facts) *cliv1alpha1.Report {
	r := &cliv1alpha1.Report{
		APIVersion: cliv1alpha1.APIVersion,
		Kind:       cliv1alpha1.KindCheck,
		Cluster:    clusterOf(f),
		Request:    cliv1alpha1.Request{From: f.From, To: f.To, Scope: string(f.Scope), Components: f.Components},
		Blocked:    f.Findings.Blocked(),
		Counts:     countsOf(f.Findings.Summary),
		Findings:   []cliv1alpha1.Finding{}, // never null
	}
	for i := range f.Findings.Findings {
		r.Findings = append(r.Findings, findingOf(&f.Findings.Findings[i]))
	}
	if f.Plan != nil {
		r.Kind = cliv1alpha1.KindPlan
		r.Plan = planOf(f.Plan)
	}
	r.Blocked = r.Blocked && !r.Done() // there is nothing to block
	return r
}

func clusterOf(f Facts) cliv1alpha1.Cluster {
	s := f.Snapshot
	c := cliv1alpha1.Cluster{
		Name:         f.Name,
		UID:          s.UID,
		Version:      cmp.Or(f.From, s.Version),
		TakenAt:      s.TakenAt,
		Saved:        f.Saved,
		ControlPlane: len(s.ControlPlane()),
		Workers:      len(s.Workers()),
		Cost:         cliv1alpha1.Cost{Requests: s.Cost.Requests, Bytes: s.Cost.Bytes, Pods: s.Cost.Pods, Milliseconds: s.Cost.Took.Milliseconds()},
	}
	for _, gap := range s.Gaps {
		c.Gaps = append(c.Gaps, cliv1alpha1.Gap{Part: string(gap.Part), Object: gap.Object, Kind: string(gap.Kind), Message: gap.Message})
	}
	return c
}

func countsOf(s preflight.Summary) cliv1alpha1.Counts {
	return cliv1alpha1.Counts{
		Checks: s.Checks, Unanswered: s.Unanswered, Block: s.Blocks, Deferred: s.Deferred, Warn: s.Warns, Info: s.Infos, Waived: s.Waived, Unknown: s.Unknown,
	}
}

func findingOf(f *preflight.Finding) cliv1alpha1.Finding {
	out := cliv1alpha1.Finding{
		Check: f.Check, Severity: string(f.Severity), Blocks: f.Blocks(), Binding: f.Binding, Unknown: f.Unknown, Deferred: f.Deferred,
		Object: f.Object, Message: f.Message, Remedy: f.Remedy, ReportTime: f.ReportTime,
	}
	if f.Waived != nil {
		out.Waived = &cliv1alpha1.Waiver{Object: f.Waived.Object, Reason: f.Waived.Reason}
	}
	return out
}
