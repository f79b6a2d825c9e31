package preflight

import (
	"fmt"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// What kinds of actors are called in a Snapshot. Any other kind counts as an upgrader: what is not known is not assumed to be harmless.
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

// atWork says whether an actor was seen to work on a node, by what is on the node. That its controller runs says only that it could.
func atWork(a *cluster.Actor) bool {
	return a.Active == cluster.Yes && strings.HasPrefix(a.Object, "Node ")
}

func otherUpgrader(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if scalers[a.Kind] || gitOps[a.Kind] || a.Kind == clusterAPI {
			continue
		}
		f := Finding{Severity: Warn, Object: a.Object, Remedy: "Keep it from starting while the upgrade runs: " + hold(a)}
		switch {
		case atWork(a):
			f.Severity = Block
			f.Message = fmt.Sprintf("%s is at work on nodes (%s)%s: two cannot drain and upgrade the same nodes", a.Kind, a.Object, actorDetail(a))
			f.Remedy = "Wait until it has finished, or stop it."
		case a.Active == cluster.Yes:
			f.Message = fmt.Sprintf("%s runs in the cluster (%s)%s: it may drain, restart or upgrade nodes by itself at any time",
				a.Kind, a.Object, actorDetail(a))
		case a.Active == cluster.No:
			f.Severity = Info
			f.Message = fmt.Sprintf("%s is in the cluster and does not run (%s)%s", a.Kind, a.Object, actorDetail(a))
		default:
			f.Severity, f.Unknown = Info, true
			f.Message = fmt.Sprintf("%s is or was in the cluster, and whether it runs is not known (%s)%s", a.Kind, a.Object, actorDetail(a))
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
			Message: fmt.Sprintf("%s (%s) may add or remove nodes during the upgrade%s: a node that is being emptied looks unneeded to it",
				a.Kind, a.Object, actorDetail(a)),
			Remedy: "Hold it for the time of the upgrade: " + hold(a),
		}
		if f.Unknown { // a definition that may have been left behind
			f.Severity = Info
		}
		if a.Kind == "Descheduler" {
			f.Message = fmt.Sprintf("%s (%s) evicts pods by itself during the upgrade%s, and uses up what their budgets allow",
				a.Kind, a.Object, actorDetail(a))
		}
		found = append(found, f)
	}
	return found
}

// hold is how to keep something from acting that gave itself away by its object.
func hold(a *cluster.Actor) string {
	kind, name, _ := strings.Cut(a.Object, " ")
	namespace, name, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
	case kind == "Deployment" || kind == "StatefulSet":
		return fmt.Sprintf("kubectl -n %s scale %s %s --replicas=0", namespace, lower(kind), name)
	case kind == "DaemonSet": // it has no replicas to take away, but it runs only on nodes that its selector matches
		return fmt.Sprintf(`kubectl -n %s patch daemonset %s -p '{"spec":{"template":{"spec":{"nodeSelector":{"refit.dev/paused":"true"}}}}}'. `+
			"No node has this label, so its pods end. Afterwards the same with null instead of \"true\".", namespace, name)
	}
	return "scale its Deployment to zero, or suspend what it works on."
}

// clusterAPIManaged: the annotation that gives it away is on the nodes for ever, so it says nothing about what happens at this moment.
func clusterAPIManaged(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if a.Kind != clusterAPI {
			continue
		}
		found = append(found, Finding{
			Object: a.Object,
			Message: fmt.Sprintf("Cluster API made nodes of this cluster (%s)%s: it knows nothing of this upgrade, "+
				"and makes or replaces machines at the old version", a.Object, actorDetail(a)),
			Remedy: "Pause it for the time of the upgrade (spec.paused of the Cluster), and set the new versions there before it goes on.",
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
				Message: fmt.Sprintf("%s (%s) writes to this cluster%s: it may put back what the upgrade changes, such as kube-proxy or CoreDNS",
					a.Kind, a.Object, actorDetail(a)),
				Remedy: "Nothing needs to be done unless it owns objects in kube-system. Then change their versions there as well.",
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
		Message: fmt.Sprintf("another upgrade is not finished (%s): this one waits for it", some(v.s.Others)),
		Remedy:  fmt.Sprintf("Let it finish, or end it: kubectl patch clusterupgrade %s --type=merge -p '{\"spec\":{\"aborted\":true}}'", v.s.Others[0]),
	}}
}
