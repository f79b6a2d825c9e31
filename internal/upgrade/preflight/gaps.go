package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// checksByObject lists the checks that read one object of the kubeadm configuration and are
// unanswered, at least in part, without it. An optional object that does not exist, such as
// kube-proxy's, is not a gap.
var checksByObject = map[string][]string{
	kubeletConfig: {"RemovedFeatureGate", "FeatureGateIncomplete", "RemovedKubeletField", "CgroupV1"},
	proxyConfig:   {"RemovedFeatureGate", "FeatureGateIncomplete", "IPVSMode"},
	dnsConfig:     {"CorefilePluginUnknown"},
}

// permissionMissing is the remedy of what the credentials of the check do not permit to read.
const permissionMissing = "Grant the permission that the message names, or use a kubeconfig that has it."

// partUnreadable reports what could not be read, and which checks are unanswered because of it.
//
// A permission error blocks if a safety check depends on the part. An unreachable part never blocks
// here: the controller in the cluster reads it again before the upgrade starts.
func partUnreadable(v *view, waiting map[cluster.Part][]string) []Finding {
	var found []Finding
	seen := map[cluster.Part]bool{}
	for _, gap := range v.s.Gaps {
		switch {
		case gap.Kind == cluster.GapAbsent: // the checks that need it report it
		case gap.Object == "" && !seen[gap.Part]:
			seen[gap.Part] = true
			f := unanswered(gap, waiting[gap.Part])
			f.Object = string(gap.Part)
			f.Message = fmt.Sprintf("the %s could not be read: %s", gap.Part, gap.Message) + notAnswered(". Unanswered checks: ", waiting[gap.Part])
			found = append(found, f)
		case gap.Object == "", gap.Part == cluster.PartAPIServers, gap.Part == cluster.PartDeprecated:
			// Individual API servers have their own checks.
		case gap.Part == cluster.PartKubeadm:
			found = append(found, kubeadmUnreadable(gap))
		default:
			found = append(found, objectUnreadable(gap))
		}
	}
	return found
}

// unanswered returns the finding for a gap that leaves checks unanswered. If one of these checks is
// binding, so is the finding: a waiver would disable that check.
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
		f.Remedy = permissionMissing
	case cluster.GapUnreachable:
		f.Remedy = "Run the check from a host that can reach it, such as a control plane node. " +
			"The controller in the cluster checks again before an upgrade starts."
	default:
		f.Remedy = "Run the check again. If it fails again, look for errors in the log of the API server."
	}
	return f
}

func notAnswered(prefix string, ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return prefix + strings.Join(ids, ", ")
}

// kubeadmUnreadable reports one object of the kubeadm configuration that could not be read.
func kubeadmUnreadable(gap cluster.Gap) Finding {
	ids, known := checksByObject[gap.Object]
	if !known {
		ids = needing(cluster.PartKubeadm)
	}
	f := unanswered(gap, ids)
	f.Object = gap.Object
	f.Message = fmt.Sprintf("%s could not be read: %s", gap.Object, gap.Message) + notAnswered(". Unanswered or partly answered checks: ", ids)
	if gap.Kind == cluster.GapFailed {
		f.Remedy = "Run the check again. If it fails again, check whether the object is damaged: kubeadm would fail to read it as well."
	}
	return f
}

// needing returns the checks that are unanswered without a part.
func needing(part cluster.Part) []string {
	var ids []string
	for _, check := range checks {
		if slices.Contains(check.Needs, part) {
			ids = append(ids, check.ID)
		}
	}
	return ids
}

// objectUnreadable reports a single object that could not be read.
func objectUnreadable(gap cluster.Gap) Finding {
	remedy := "Inspect the object before the upgrade: it may be damaged."
	if gap.Kind == cluster.GapForbidden {
		remedy = permissionMissing
	}
	return Finding{
		Check:    idPartUnreadable,
		Severity: Warn,
		Unknown:  true,
		Object:   gap.Object,
		Message:  fmt.Sprintf("%s (%s) could not be read: %s", gap.Object, gap.Part, gap.Message),
		Remedy:   remedy,
	}
}
