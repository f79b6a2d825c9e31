package preflight

import (
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// agentMissing is the one line that stands for every check that has to wait for a host. It is asked by Run itself, which knows these checks.
func agentMissing(v *view) []Finding {
	if gap, is := v.s.Gap(cluster.PartReports); is && gap.Kind != cluster.GapAbsent {
		return nil // PartUnreadable tells of it
	}
	var without []string
	touched := 0
	for i := range v.nodes {
		if n := &v.nodes[i]; n.touched {
			touched++
			if n.Report == nil {
				without = append(without, n.Name)
			}
		}
	}
	if len(without) == 0 {
		return nil
	}
	return []Finding{{
		Check:    idAgentMissing,
		Severity: Block,
		Unknown:  true,
		Deferred: true,
		Message: fmt.Sprintf("there is no agent yet on %s of %s (%s), so these checks wait: %s",
			thousands(len(without)), many(touched, "node"), some(without), strings.Join(hostChecks(), ", ")),
		Remedy: "`refit install` puts agents on the nodes. An upgrade does not start before these checks are answered.",
	}}
}

func hostChecks() []string {
	var ids []string
	for _, check := range checks {
		if check.NeedsHost() {
			ids = append(ids, check.ID)
		}
	}
	return ids
}

func agentSilent(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Answered >= n.Asked {
			return Finding{}
		}
		since := ""
		if r.ObservedAt != nil && v.Now.After(r.ObservedAt.Time) {
			since = fmt.Sprintf(" for %s", ago(v.Now.Sub(r.ObservedAt.Time)))
		}
		return Finding{
			Unknown:  true,
			Deferred: true,
			Message:  fmt.Sprintf("the agent on %s was asked for its facts and has not answered%s", n.Name, since),
			Remedy:   fmt.Sprintf("Look whether it runs: systemctl status refit-agent (on %s)", n.Name),
		}
	})
}

func reportOfAnotherMachine(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.NodeUID == "" || n.UID == "" || string(r.NodeUID) == n.UID {
			return Finding{}
		}
		return Finding{
			Unknown: true,
			Message: fmt.Sprintf("the report of %s was written by a node of the same name that is gone: the machine was joined anew", n.Name),
			Remedy:  fmt.Sprintf("Let its agent write another: kubectl delete nodereport %s; systemctl restart refit-agent (on %s)", n.Name, n.Name),
		}
	})
}

func agentTooOld(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.OrderFormat >= refitv1alpha1.NodeUpgradeFormat {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the agent on %s (%s) understands orders up to format %d, and these have format %d",
				n.Name, r.AgentVersion, r.OrderFormat, refitv1alpha1.NodeUpgradeFormat),
			Remedy: "`refit install` brings the agents to the version of the controller.",
		}
	})
}

func releaseKeyMissing(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if len(r.ReleaseKeys) > 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("no key is pinned on %s, so its agent accepts no Release", n.Name),
			Remedy:  "Pin the public key of those who sign Releases: refit install --release-key FILE",
		}
	})
}
