package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// agentless returns the nodes without a report that the upgrade changes, and the checks that are
// unanswered because of them.
func (v *view) agentless() (missing, unanswered []string) {
	var nodes []*node
	for i := range v.nodes {
		if n := &v.nodes[i]; n.touched && n.Report == nil {
			nodes, missing = append(nodes, n), append(missing, n.Name)
		}
	}
	for _, check := range checks {
		known := knownWithoutAgent[check.ID]
		if check.NeedsAgent() && slices.ContainsFunc(nodes, func(n *node) bool { return known == nil || !known(v, n) }) {
			unanswered = append(unanswered, check.ID)
		}
	}
	return missing, unanswered
}

// knownWithoutAgent lists the checks that may have the answer for a node without its agent, and
// when.
var knownWithoutAgent = map[string]func(*view, *node) bool{
	"APIServerNotReady": apiServerKnown,
	"APIServerUnknown":  apiServerKnown,
	"StaticPodMissing":  func(_ *view, n *node) bool { return !n.ControlPlane || len(n.Static) > 0 },

	"EtcdMemberUnhealthy":   noControlPlane,
	"EtcdLearner":           noControlPlane,
	"EtcdAlarm":             noControlPlane,
	"EtcdNearQuota":         noControlPlane,
	"EtcdMembershipDiffers": noControlPlane,
	"EtcdExternalTooOld":    noExternalEtcd,
	policy.CheckHeldTwice:   noControlPlane,
	"VirtualIPUnchecked":    noControlPlane,

	"CRIRuntimeConfigMissing": func(_ *view, n *node) bool { return containerdMajor(n.Runtime) > 0 },
}

func apiServerKnown(v *view, n *node) bool {
	if !n.ControlPlane {
		return true
	}
	server := v.s.APIServer(n.Name)
	return server != nil && server.Ready != cluster.Unknown
}

func noControlPlane(_ *view, n *node) bool { return !n.ControlPlane }

func noExternalEtcd(v *view, n *node) bool {
	return !n.ControlPlane || v.s.ExternalEtcd() != cluster.Yes
}

// agentMissing is one finding for all checks that are unanswered because of missing agents, and
// another one for nodes that only get images.
func agentMissing(v *view, missing, unanswered []string) []Finding {
	if len(missing) == 0 {
		return v.cannotFetch()
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
		Message: fmt.Sprintf("no agent yet on %s of %s (%s), so these checks are unanswered: %s",
			thousands(len(missing)), plural(touched, "node"), joinNames(missing), strings.Join(unanswered, ", ")),
		Remedy: installAgents(v, missing) + " An upgrade does not start without them.",
	}}
}

// cannotFetch reports nodes that run the version already, and on which no agent can copy the images
// of components.
func (v *view) cannotFetch() []Finding {
	var missing []string
	nodes := 0
	for i := range v.nodes {
		n := &v.nodes[i]
		if n.fetches {
			nodes++
		}
		if n.fetches && n.Report == nil {
			missing = append(missing, n.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []Finding{{
		Check:    idAgentMissing,
		Severity: Block,
		Unknown:  true,
		Deferred: true,
		Binding:  find(idAgentMissing).Binding(),
		Message: fmt.Sprintf("no agent yet on %s of %s (%s), which copies the images of components to the node",
			thousands(len(missing)), plural(nodes, "node"), joinNames(missing)),
		Remedy: installAgents(v, missing) + " An upgrade does not start without them.",
	}}
}

// installAgents is the remedy for missing agents. A later installation would not help a node whose
// Pod does not run.
func installAgents(v *view, missing []string) string {
	pods := "kubectl -n refit-agent get pods -o wide"
	switch {
	case !v.s.Installed:
		return fmt.Sprintf("Install Refit with its agents: %s. It creates your key, unless you pin another one with --release-key.", command("refit install"))
	case len(missing) == 1:
		pods += " --field-selector spec.nodeName=" + missing[0]
	}
	return fmt.Sprintf("Check the Pods of the agents: %s. If there are none, install them: %s.", command(pods), command("refit install"))
}

// agentSilent reports agents that have not answered a request for facts. The request number is its
// Unix time.
func agentSilent(v *view) []Finding {
	const timeout = time.Minute
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.Answered >= n.ReportRequest || v.Now.Sub(time.Unix(n.ReportRequest, 0)) < timeout {
			return Finding{}
		}
		since := ""
		if observed := r.Observed(); !observed.IsZero() && v.Now.After(observed) {
			since = fmt.Sprintf(" for %s", ago(v.Now.Sub(observed)))
		}
		return Finding{
			Unknown:  true,
			Deferred: true,
			live:     true,
			Message:  fmt.Sprintf("the agent on %s has not responded to a request for facts%s", n.Name, since),
			Remedy:   fmt.Sprintf("Check whether it is running. On %s, run `systemctl status refit-agent`", n.Name),
		}
	})
}

func reportOfAnotherMachine(v *view) []Finding {
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.NodeUID == "" || n.UID == "" || string(r.NodeUID) == n.UID {
			return Finding{}
		}
		return Finding{
			Unknown: true,
			Message: fmt.Sprintf("the NodeReport of %s comes from a deleted node of the same name: the machine was replaced or joined again", n.Name),
			Remedy:  fmt.Sprintf("Recreate the report: `kubectl delete nodereport %s`, then on %s: `systemctl restart refit-agent`", n.Name, n.Name),
		}
	})
}

func agentTooOld(v *view) []Finding {
	found := agentsBelowFormat(v, orders.Known())
	known := map[string]bool{}
	for _, f := range found {
		known[f.Object] = true // one finding per agent: the remedy is the same
	}
	return append(found, slices.DeleteFunc(agentsBelowPayload(v), func(f Finding) bool { return known[f.Object] })...)
}

// agentsBelowPayload requires of each node that it reads the ClusterReleases that it gets: an agent
// refuses a newer version, and would do so only after the operation has started.
func agentsBelowPayload(v *view) []Finding {
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		reads := max(r.PayloadVersion, refitv1alpha1.MinPayloadVersion)
		for _, h := range v.hopsOf(n) {
			if h.release == nil || h.release.NeededVersion() <= reads {
				continue
			}
			return Finding{
				Message: fmt.Sprintf("the agent on %s (%s) reads ClusterReleases up to version %d, but %s has version %d",
					n.Name, r.AgentVersion, reads, h.release.Name, h.release.NeededVersion()),
				Remedy: "Upgrade the agents to the version of the controller: " + command("refit install"),
			}
		}
		return Finding{}
	})
}

// hopsOf returns the hops whose ClusterReleases a node reads: those at which it is upgraded, or the
// last one, of which it gets images only.
func (v *view) hopsOf(n *node) []hop {
	if !n.touched && len(v.hops) > 0 {
		return v.hops[len(v.hops)-1:]
	}
	return n.hops
}

// agentsBelowFormat requires of each node the format that its own orders need, not the newest one.
func agentsBelowFormat(v *view, formats orders.Formats) []Finding {
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		needed := formats.Of(orders.Planned(&v.Spec, n.Node)...)
		if r.OrderFormat >= needed {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("the agent on %s (%s) supports order formats up to %d, but this controller writes format %d",
				n.Name, r.AgentVersion, r.OrderFormat, needed),
			Remedy: "Upgrade the agents to the version of the controller: " + command("refit install"),
		}
	})
}

func releaseKeyMissing(v *view) []Finding {
	return v.onFetching(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if len(r.ReleaseKeys) > 0 {
			return Finding{}
		}
		return Finding{
			Message: fmt.Sprintf("no release key is pinned on %s, so its agent rejects every ClusterRelease", n.Name),
			Remedy:  "Pin the public key that verifies your ClusterReleases: " + command("refit install --release-key FILE"),
		}
	})
}
