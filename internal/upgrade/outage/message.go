package outage

import (
	"fmt"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// The commands that show more, to run on a control plane node.
const (
	agentStatus = "refit-agent status"
	containers  = "crictl ps -a --name 'kube-apiserver|etcd'"
)

// describe copies the step that the conclusion is about.
func describe(out *cliv1alpha1.Outage, j *judgment) {
	out.Node, out.Step, out.Undo, out.Source = j.node, j.step, j.undo, j.source
	out.StepSince, out.ObservedAt, out.RollsBackAt = j.since, j.observedAt.UTC(), j.rollsBackAt
	if j.source != cliv1alpha1.SourceAgent {
		out.RollsBackAt = time.Time{} // the agent may have restarted the step since
	}
}

func failure(out *cliv1alpha1.Outage, j *judgment) {
	describe(out, j)
	out.Cause, out.Step, out.StepSince = cliv1alpha1.OutageFailure, j.failedStep, time.Time{}
	out.Message = "Not expected: " + j.why
	out.Investigate, out.InvestigateOn = agentStatus, j.node
}

func other(out *cliv1alpha1.Outage, on, why string) {
	out.Cause = cliv1alpha1.OutageOther
	out.Message = "Not part of the upgrade: " + why
	out.Investigate, out.InvestigateOn = containers, on
}

func uncertain(out *cliv1alpha1.Outage, j *judgment, why string) {
	describe(out, j)
	out.RollsBackAt = time.Time{}
	out.Cause = cliv1alpha1.OutageUnknown
	out.Message = "Unknown: " + why
	out.Investigate, out.InvestigateOn = agentStatus, j.node
}

// partly concludes that a step explains one API server and not the others.
func partly(out *cliv1alpha1.Outage, j *judgment, rest []Server, all []judgment, in *Input) {
	now := in.Now
	var silent, unchecked []string
	for _, s := range rest {
		at := slices.IndexFunc(all, func(j judgment) bool { return j.node == s.Node && j.kind == unknown })
		switch {
		case at >= 0:
			uncertain(out, j, fmt.Sprintf("%s, and %s", j.sentence(now), all[at].why))
			return
		case s.Reach == Silent:
			silent = append(silent, s.Node)
		default:
			unchecked = append(unchecked, s.Node)
		}
	}
	switch why := fmt.Sprintf("%s, but %s not respond either", j.sentence(now), serversOf(silent, "does", "do")); {
	case len(silent) == 0:
		uncertain(out, j, fmt.Sprintf("%s, but %s not checked", j.sentence(now), serversOf(unchecked, "was", "were")))
	case j.mayAffectOthers(in):
		uncertain(out, j, why)
	default:
		other(out, silent[0], why)
		describe(out, j)
		out.RollsBackAt = time.Time{}
	}
}

func serversOf(nodes []string, one, many string) string {
	if len(nodes) == 1 {
		return "the API server of " + nodes[0] + " " + one
	}
	slices.Sort(nodes)
	return "the API servers of " + phrase.List(nodes) + " " + many
}

// sentence names the step in progress, for how long it has been, and the source.
func (j *judgment) sentence(now time.Time) string { return j.doing(now) + " " + j.seen(now) }

func (j *judgment) doing(now time.Time) string {
	verb := "is at"
	if j.undo {
		verb = "undoes"
	}
	switch {
	case j.since.IsZero():
		return fmt.Sprintf("%s %s %s", j.node, verb, j.step)
	case j.source == cliv1alpha1.SourceLastKnown:
		return fmt.Sprintf("%s was last seen %s, which started %s ago", j.node, j.place(), clock(now.Sub(j.since)))
	}
	return fmt.Sprintf("%s %s %s for %s", j.node, verb, j.step, clock(now.Sub(j.since)))
}

// place is where a host was last seen.
func (j *judgment) place() string {
	switch {
	case j.step == "":
		return "without a step in progress"
	case j.undo:
		return "undoing " + j.step
	}
	return "at " + j.step
}

func (j *judgment) seen(now time.Time) string {
	ago := max(0, now.Sub(j.observedAt))
	if j.source == cliv1alpha1.SourceAgent {
		return fmt.Sprintf("(agent, %d s ago)", int(ago.Seconds()))
	}
	return fmt.Sprintf("(last known, %s ago)", clock(ago))
}

func rollsBack(j *judgment) string {
	if j.rollsBackAt.IsZero() || j.source != cliv1alpha1.SourceAgent {
		return ""
	}
	return "; rolls back by itself after " + clock(j.rollsBackAt.Sub(j.since)) + " at the latest"
}

// clock formats a duration like a stopwatch: 0:12, 2:30, 1:02:03.
func clock(d time.Duration) string {
	s := int(max(0, d).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
