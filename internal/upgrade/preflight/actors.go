package preflight

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Actor kinds in a Snapshot. Any other kind counts as an upgrader: unknown software is not assumed
// to be harmless.
var (
	scalers = map[string]bool{"ClusterAutoscaler": true, "Karpenter": true, "Descheduler": true}
	gitOps  = map[string]bool{"Flux": true, "ArgoCD": true, "Argo CD": true, "GitOps": true, "Fleet": true}
)

const clusterAPI = "ClusterAPI"

func actorDetail(a *cluster.Actor) string {
	if a.Detail == "" {
		return ""
	}
	return ": " + a.Detail
}

// actsOnNode reports whether a node carries traces of an active actor. A running controller alone
// only shows that it could act.
func actsOnNode(a *cluster.Actor) bool {
	return a.Active == cluster.Yes && strings.HasPrefix(a.Object, "Node ")
}

func otherUpgrader(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if scalers[a.Kind] || gitOps[a.Kind] || a.Kind == clusterAPI {
			continue
		}
		f := Finding{Severity: Warn, Object: a.Object, Remedy: "Suspend it during the upgrade: " + suspend(a)}
		switch {
		case actsOnNode(a):
			f.Severity = Block
			f.Message = fmt.Sprintf("%s is changing nodes (%s)%s: it must not drain or upgrade nodes at the same time as Refit",
				a.Kind, a.Object, actorDetail(a))
			f.Remedy = "Wait until it is done, or stop it."
		case a.Active == cluster.Yes:
			f.Message = fmt.Sprintf("%s is running in the cluster (%s)%s: it may drain, restart or upgrade nodes at any time",
				a.Kind, a.Object, actorDetail(a))
		case a.Active == cluster.No:
			f.Severity = Info
			f.Message = fmt.Sprintf("%s is installed in the cluster, but not running (%s)%s", a.Kind, a.Object, actorDetail(a))
		default:
			f.Severity, f.Unknown = Info, true
			f.Message = fmt.Sprintf("%s is or was installed in the cluster; whether it is running is unknown (%s)%s", a.Kind, a.Object, actorDetail(a))
		}
		found = append(found, f)
	}
	return found
}

func clusterAutoscalerActive(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if !scalers[a.Kind] || a.Active == cluster.No {
			continue
		}
		f := Finding{
			Unknown: a.Active == cluster.Unknown,
			Object:  a.Object,
			Message: fmt.Sprintf("%s (%s) may add or remove nodes during the upgrade%s: it may consider a drained node unneeded",
				a.Kind, a.Object, actorDetail(a)),
			Remedy: "Suspend it during the upgrade: " + suspend(a),
		}
		if f.Unknown { // only a CRD, which may be a leftover
			f.Severity = Info
		}
		if a.Kind == "Descheduler" {
			f.Message = fmt.Sprintf("%s (%s) evicts pods during the upgrade%s, which uses up the disruptions that their PDBs allow",
				a.Kind, a.Object, actorDetail(a))
		}
		found = append(found, f)
	}
	return found
}

// suspend returns the command that stops an actor, by the object that revealed it.
func suspend(a *cluster.Actor) string {
	kind, name, _ := strings.Cut(a.Object, " ")
	namespace, name, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
	case kind == "Deployment" || kind == "StatefulSet":
		return fmt.Sprintf("`kubectl -n %s scale %s %s --replicas=0`", namespace, lower(kind), name)
	case kind == "DaemonSet":
		// It has no replicas, but a selector that matches no node stops its pods.
		return fmt.Sprintf("`kubectl -n %s patch daemonset %s -p '{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"refit.dev/paused\":\"true\"}}}}}'`. "+
			"No node has this label, so its pods are deleted. To resume it, run the same command with null instead of \"true\".", namespace, name)
	}
	return "scale its Deployment to zero, or suspend the objects that it acts on"
}

// clusterAPIManaged: the annotation that reveals Cluster API is permanent, so it does not prove
// current activity.
func clusterAPIManaged(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if a.Kind != clusterAPI {
			continue
		}
		found = append(found, Finding{
			Object: a.Object,
			Message: fmt.Sprintf("Cluster API created nodes of this cluster (%s)%s: it does not know about this upgrade, "+
				"and it creates or replaces machines at the old version", a.Object, actorDetail(a)),
			Remedy: "Pause the Cluster during the upgrade (spec.paused), and set the new versions in Cluster API before you unpause it.",
		})
	}
	return found
}

func gitOpsActive(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if gitOps[a.Kind] {
			found = append(found, Finding{
				Object: a.Object,
				Message: fmt.Sprintf("%s (%s) writes to this cluster%s: it may revert what the upgrade changes, such as kube-proxy or CoreDNS",
					a.Kind, a.Object, actorDetail(a)),
				Remedy: "No action is required unless it manages objects in kube-system. In that case, change their versions there as well.",
			})
		}
	}
	return found
}

func olderOperation(v *view) []Finding {
	if len(v.s.Others) == 0 {
		return nil
	}
	return []Finding{{
		Object:  "ClusterUpgrade " + v.s.Others[0],
		Message: fmt.Sprintf("another upgrade is in progress (%s): this one waits for it", joinNames(v.s.Others)),
		Remedy:  fmt.Sprintf("Let it finish, or abort it: `kubectl patch clusterupgrade %s --type=merge -p '{\"spec\":{\"aborted\":true}}'`", v.s.Others[0]),
	}}
}
