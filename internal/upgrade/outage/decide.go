package outage

import (
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Decide returns nil if an API server responds.
func Decide(in *Input) *cliv1alpha1.Outage {
	if in.Since.IsZero() || slices.ContainsFunc(in.Servers, func(s Server) bool { return s.Reach == Responds }) {
		return nil
	}
	out := &cliv1alpha1.Outage{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindOutage, Since: in.Since.UTC(), Error: in.Error,
	}
	var all []judgment
	for _, h := range hosts(in) {
		if len(in.Servers) == 0 || slices.ContainsFunc(in.Servers, func(s Server) bool { return s.Node == h.node }) {
			all = append(all, judge(&h, in))
		}
	}
	// The strongest explanation first; among equals the order of the orders.
	slices.SortStableFunc(all, func(a, b judgment) int { return int(b.kind) - int(a.kind) })
	conclude(out, all, in)
	return out
}

// conclude sets the cause from the judgments of all hosts.
func conclude(out *cliv1alpha1.Outage, all []judgment, in *Input) {
	at := func(k kind) int { return slices.IndexFunc(all, func(j judgment) bool { return j.kind == k }) }
	unexplained := in.unexplained(all)
	failedAt, explained, unknownAt := at(failed), at(explains), at(unknown)
	switch {
	case isFresh(in) && in.Agent.Restore != nil:
		other(out, in.Agent.Node, "an unfinished restore of etcd is in progress on "+in.Agent.Node)
		out.Investigate = agentStatus
	case failedAt >= 0:
		failure(out, &all[failedAt])
	case explained >= 0 && len(in.Servers) > 0 && len(unexplained) == 0:
		expected(out, &all[explained], in)
	case explained >= 0 && len(in.Servers) == 0:
		uncertain(out, &all[explained], all[explained].sentence(in.Now)+", but the other API servers are unknown")
	case explained >= 0:
		partly(out, &all[explained], unexplained, all, in)
	case unknownAt >= 0:
		uncertain(out, &all[unknownAt], all[unknownAt].why)
	default:
		unrelatedTo(out, all, in)
	}
}

// unexplained returns the servers that no step in progress explains. With one or two members, etcd
// has no quorum while one of them restarts, so no API server responds.
func (in *Input) unexplained(all []judgment) []Server {
	quorumLost := slices.ContainsFunc(all, func(j judgment) bool {
		return j.kind == explains && j.step == node.StepEtcd && in.Members > 0 && in.Members <= 2
	})
	if quorumLost {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(in.Servers), func(s Server) bool {
		return slices.ContainsFunc(all, func(j judgment) bool { return j.kind == explains && j.node == s.Node })
	})
}

// expected is the only place that sets Expected.
func expected(out *cliv1alpha1.Outage, j *judgment, in *Input) {
	describe(out, j)
	out.Expected, out.Cause = true, cliv1alpha1.OutageStep
	out.Until = until(j, in)
	out.Message = "Expected: " + j.sentence(in.Now) + rollsBack(j)
}

// until is the expected end, if all steps of the interruption have an estimate and it is not over.
func until(j *judgment, in *Input) time.Time {
	if j.undo {
		return time.Time{}
	}
	took, known := in.Usual[j.step]
	if j.step == node.StepEtcd { // it stops the API server, which the next step starts
		next, has := in.Usual[node.StepAPIServer]
		took, known = took+next, known && has
	}
	if end := j.since.Add(took); known && end.After(in.Now) {
		return end
	}
	return time.Time{}
}

// unrelatedTo concludes that no host explains the outage, if what is known suffices for that.
func unrelatedTo(out *cliv1alpha1.Outage, all []judgment, in *Input) {
	on := ""
	if len(in.Servers) > 0 {
		on = in.Servers[0].Node
	}
	known := !in.ObservedAt.IsZero() && in.Since.Sub(in.ObservedAt) <= maxLag
	why := "no step in progress restarts an API server"
	for _, j := range all {
		on = j.node
		if j.why != "" {
			why = j.why
		}
		known = known || j.source == cliv1alpha1.SourceAgent && len(in.Servers) == 1
	}
	if known {
		other(out, on, why)
		return
	}
	out.Cause = cliv1alpha1.OutageUnknown
	out.Message = "Unknown: what was known of the upgrade when the API server became unreachable is too old"
	out.Investigate, out.InvestigateOn = agentStatus, on
}
