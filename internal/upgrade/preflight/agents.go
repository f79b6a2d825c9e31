package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// agentless are the nodes that the upgrade changes and of which no agent has told, and the checks that lack facts for it.
func (v *view) agentless() (without, late []string) {
	var silent []*node
	for i := range v.nodes {
		if n := &v.nodes[i]; n.touched && n.Report == nil {
			silent, without = append(silent, n), append(without, n.Name)
		}
	}
	for _, check := range checks {
		told := toldElsewhere[check.ID]
		if check.NeedsHost() && slices.ContainsFunc(silent, func(n *node) bool { return told == nil || !told(v, n) }) {
			late = append(late, check.ID)
		}
	}
	return without, late
}

// toldElsewhere says of some checks when they have the answer about a node without its agent.
var toldElsewhere = map[string]func(*view, *node) bool{
	"APIServerNotReady": serverTold,
	"APIServerUnknown":  serverTold,
	"StaticPodMissing":  func(_ *view, n *node) bool { return !n.ControlPlane || len(n.Static) > 0 },

	"EtcdMemberUnhealthy":   noMember,
	"EtcdLearner":           noMember,
	"EtcdAlarm":             noMember,
	"EtcdNearQuota":         noMember,
	"EtcdMembershipDiffers": noMember,

	"CRIRuntimeConfigMissing": func(_ *view, n *node) bool { return containerdMajor(n.Runtime) > 0 },
}

func serverTold(v *view, n *node) bool {
	if !n.ControlPlane {
		return true
	}
	server := v.s.APIServer(n.Name)
	return server != nil && server.Ready != cluster.Unknown
}

func noMember(v *view, n *node) bool { return !n.ControlPlane || v.s.ExternalEtcd() == cluster.Yes }

// agentMissing is the one line that stands for every check that has to wait for a host. It is asked by Run itself, which knows these checks.
func agentMissing(v *view, without, late []string) []Finding {
	if len(without) == 0 {
		return nil
	}
	touched := 0
	for i := range v.nodes {
		if v.nodes[i].touched {
			touched++
		}
	}
	return []Finding{{
		Check:    idAgentMissing,
		Severity: Block,
		Unknown:  true,
		Deferred: true,
		Binding:  find(idAgentMissing).Binding(),
		Message: fmt.Sprintf("there is no agent yet on %s of %s (%s), so these checks wait: %s",
			thousands(len(without)), many(touched, "node"), some(without), strings.Join(late, ", ")),
		Remedy: fmt.Sprintf("Refit's agent answers them; %s places it. An upgrade does not start before that.", command("refit install")),
	}}
}

// agentSilent is about questions that are open for a while. Their number is the time at which they were asked.
func agentSilent(v *view) []Finding {
	const while = time.Minute
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Answered >= n.Asked || v.Now.Sub(time.Unix(n.Asked, 0)) < while {
			return Finding{}
		}
		since := ""
		if r.ObservedTime != nil && v.Now.After(r.ObservedTime.Time) {
			since = fmt.Sprintf(" for %s", ago(v.Now.Sub(r.ObservedTime.Time)))
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
			Remedy: command("refit install") + " brings the agents to the version of the controller.",
		}
	})
}

func releaseKeyMissing(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if len(r.ReleaseKeys) > 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("no key is pinned on %s, so its agent accepts no ClusterRelease", n.Name),
			Remedy:  "Pin the public key of those who sign Releases: " + command("refit install --release-key FILE"),
		}
	})
}
