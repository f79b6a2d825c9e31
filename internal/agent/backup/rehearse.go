package backup

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// fetchHops fetches what the rehearsal needs before a snapshot of many GB is taken for it.
func (a *Attempt) fetchHops(ctx context.Context) (err error) {
	if a.trial == nil || len(a.request.Hops) == 0 {
		return nil
	}
	if err := a.begin(ctx, stepFetchHops); err != nil {
		return err
	}
	a.trial.hops, err = a.manager.Environment.Hops(ctx, a.slot.hops(), a.request.Hops, a.waits)
	for i := range a.trial.hops {
		if a.trial.hops[i].EtcdImage == "" { // no hop changes an external etcd
			a.trial.hops[i].EtcdImage = a.trial.image
		}
	}
	return err
}

// rehearsed records the result of a hop. Its findings are no failure of the backup: they decide
// about the upgrade.
func (a *Attempt) rehearsed(h rehearsal.HopResult) {
	hop := rehearsedHop(a.request.Hops[len(a.status.Rehearsed)], h, a.findingsLeft(), time.Now())
	a.status.Rehearsed = append(a.status.Rehearsed, hop)
	a.manager.Log.Info("hop rehearsed", "version", h.Version, "resources", h.Report.Listed, "objects", h.Report.Objects,
		"findings", len(h.Findings), "seconds", hop.Seconds)
	for _, f := range h.Findings {
		a.manager.Log.Warn("finding of the rehearsal", "version", h.Version, "reason", f.Reason, "object", f.Object, "message", f.Message, "unknown", f.Unknown)
	}
	if len(h.Findings) > 0 && h.LogTail != "" {
		a.manager.Log.Warn("log of the rehearsal", "version", h.Version, "log", refitv1alpha1.ClipFront(h.LogTail, refitv1alpha1.MaxLogTail))
	}
	a.manager.report(a.status)
}

// findingsLeft is how many findings the result can still list. All hops share the limit, so that
// the result fits into a record of the journal.
func (a *Attempt) findingsLeft() int {
	left := refitv1alpha1.MaxRehearsalFindings
	for _, hop := range a.status.Rehearsed {
		left -= len(hop.Findings)
	}
	return left
}

// rehearsedHop returns the result of a hop within the limits of the API. Known problems are listed
// before open questions, which the user may waive.
func rehearsedHop(release refitv1alpha1.ReleaseRef, h rehearsal.HopResult, limit int, now time.Time) refitv1alpha1.RehearsedHop {
	hop := refitv1alpha1.RehearsedHop{
		Release: release, Kubernetes: h.Version, At: metav1.NewTime(now.UTC().Truncate(time.Second)), Seconds: int64(h.Took.Seconds()),
		Resources: int64(h.Report.Listed), Objects: h.Report.Objects, WithoutWatchCache: !h.Memory.WatchCache,
		MoreFindings: h.Report.MoreFailures, MoreUnknown: h.Report.MoreUnknown,
	}
	for i, f := range knownFirst(h.Findings) {
		if i < limit {
			hop.Findings = append(hop.Findings, rehearsalFinding(f))
			continue
		}
		hop.MoreFindings++
		if f.Unknown {
			hop.MoreUnknown++
		}
	}
	return hop
}

func knownFirst(findings []core.Finding) []core.Finding {
	rank := func(f core.Finding) int {
		if f.Unknown {
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(findings), func(a, b core.Finding) int { return rank(a) - rank(b) })
}

func rehearsalFinding(f core.Finding) refitv1alpha1.RehearsalFinding {
	return refitv1alpha1.RehearsalFinding{
		Reason: string(f.Reason), Unknown: f.Unknown,
		Object:  refitv1alpha1.Clip(node.Redact(f.Object), refitv1alpha1.MaxRehearsalObject),
		Message: refitv1alpha1.Clip(node.Redact(f.Message), refitv1alpha1.MaxMessage),
		Remedy:  refitv1alpha1.Clip(node.Redact(f.Remedy), refitv1alpha1.MaxMessage),
	}
}
