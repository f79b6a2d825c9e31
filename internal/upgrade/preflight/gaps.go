package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// readFrom are the checks that read one object of kubeadm's configuration: without it they have no answer, or only half of it. ConfigMaps that may well
// not be there, such as kube-proxy's, are no gap then.
var readFrom = map[string][]string{
	kubeletConfig: {"RemovedFeatureGate", "FeatureGateIncomplete", "RemovedKubeletField", "CgroupV1"},
	proxyConfig:   {"RemovedFeatureGate", "FeatureGateIncomplete", "IPVSMode"},
	dnsConfig:     {"CorefilePluginUnknown"},
}

// partUnreadable tells of what could not be read, and which checks have no answer for it. It is asked by Run itself, which knows these.
//
// What a person may not read blocks if safety depends on it. What is out of reach from where the reader stands never does:
// the controller in the cluster reads it again before it starts.
func partUnreadable(v *view, waiting map[cluster.Part][]string) []Finding {
	var found []Finding
	told := map[cluster.Part]bool{}
	for _, gap := range v.s.Gaps {
		switch {
		case gap.Kind == cluster.GapAbsent: // whatever needs it tells
		case gap.Object == "" && !told[gap.Part]:
			told[gap.Part] = true
			f := unanswered(gap, waiting[gap.Part])
			f.Object = string(gap.Part)
			f.Message = fmt.Sprintf("the %s could not be read: %s", gap.Part, gap.Message) + notAnswered(". Not answered: ", waiting[gap.Part])
			found = append(found, f)
		case gap.Object == "", gap.Part == cluster.PartAPIServers, gap.Part == cluster.PartDeprecated: // single API servers have checks of their own
		case gap.Part == cluster.PartKubeadm:
			found = append(found, kubeadmUnreadable(gap))
		default:
			found = append(found, oneUnreadable(gap))
		}
	}
	return found
}

// unanswered is a finding about a gap that leaves checks without an answer. If no waiver sets one of them aside, then none sets this one aside: it would
// switch that check off.
func unanswered(gap cluster.Gap, ids []string) Finding {
	is := func(has func(Check) bool) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return has(find(id)) })
	}
	f := Finding{Check: idPartUnreadable, Severity: Warn, Unknown: true, Binding: is(Check.Binding)}
	if (gap.Part == cluster.PartNodes || is(Check.Safety)) && gap.Kind != cluster.GapUnreachable {
		f.Severity = Block
	}
	switch gap.Kind {
	case cluster.GapForbidden:
		f.Remedy = "Ask for the right that the message names, or use a kubeconfig that has it."
	case cluster.GapUnreachable:
		f.Remedy = "Run the check from where it can be reached, such as a control plane node. " +
			"The controller in the cluster asks again before an upgrade starts."
	default:
		f.Remedy = "Run the check again. If it stays so, look at the API server's log."
	}
	return f
}

func notAnswered(lead string, ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return lead + strings.Join(ids, ", ")
}

// kubeadmUnreadable tells of one object of kubeadm's configuration, which weighs as much as the whole where as much depends on it.
func kubeadmUnreadable(gap cluster.Gap) Finding {
	ids, known := readFrom[gap.Object]
	if !known {
		ids = needing(cluster.PartKubeadm)
	}
	f := unanswered(gap, ids)
	f.Object = gap.Object
	f.Message = fmt.Sprintf("%s could not be read: %s", gap.Object, gap.Message) + notAnswered(". Not answered, or only in part: ", ids)
	if gap.Kind == cluster.GapFailed {
		f.Remedy = "Run the check again. If it stays so, see whether it is damaged: kubeadm would fail to read it as well."
	}
	return f
}

// needing are the checks that have no answer without a part.
func needing(part cluster.Part) []string {
	var ids []string
	for _, check := range checks {
		if slices.Contains(check.Needs, part) {
			ids = append(ids, check.ID)
		}
	}
	return ids
}

// oneUnreadable tells of a single object.
func oneUnreadable(gap cluster.Gap) Finding {
	return Finding{
		Check:    idPartUnreadable,
		Severity: Warn,
		Unknown:  true,
		Object:   gap.Object,
		Message:  fmt.Sprintf("%s (%s) could not be read: %s", gap.Object, gap.Part, gap.Message),
		Remedy:   "See whether it is damaged, and look at it yourself before the upgrade.",
	}
}
