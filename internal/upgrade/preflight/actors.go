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

func otherUpgrader(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if scalers[a.Kind] || gitOps[a.Kind] || a.Kind == clusterAPI {
			continue
		}
		f := Finding{Object: a.Object}
		switch a.Active {
		case cluster.Yes:
			f.Message = fmt.Sprintf("%s (%s) is at work on nodes%s: two cannot drain and upgrade the same nodes", a.Kind, a.Object, actorDetail(a))
			f.Remedy = "Wait until it has finished, or stop it: scale it to zero or delete its plans."
		case cluster.No:
			f.Severity = Info
			f.Message = fmt.Sprintf("%s (%s) is in the cluster and idle%s", a.Kind, a.Object, actorDetail(a))
			f.Remedy = "Keep it from starting while the upgrade runs."
		default:
			f.Severity, f.Unknown = Warn, true
			f.Message = fmt.Sprintf("%s (%s) is in the cluster, and whether it is at work is not known%s", a.Kind, a.Object, actorDetail(a))
			f.Remedy = "Look yourself, and keep it from starting while the upgrade runs."
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
		found = append(found, Finding{
			Unknown: a.Active == cluster.Unknown,
			Object:  a.Object,
			Message: fmt.Sprintf("%s (%s) may add or remove nodes during the upgrade%s: a node that is being emptied looks unneeded to it",
				a.Kind, a.Object, actorDetail(a)),
			Remedy: fmt.Sprintf("Hold it for the time of the upgrade: %s", scaleToZero(a.Object)),
		})
	}
	return found
}

// scaleToZero is how to stop a Deployment that gave itself away.
func scaleToZero(object string) string {
	kind, name, _ := strings.Cut(object, " ")
	namespace, name, qualified := strings.Cut(name, "/")
	if kind != "Deployment" || !qualified {
		return "scale its Deployment to zero, or keep it from removing nodes."
	}
	return fmt.Sprintf("kubectl -n %s scale deployment %s --replicas=0", namespace, name)
}

func clusterAPIManaged(v *view) []Finding {
	var found []Finding
	for i := range v.s.Actors {
		a := &v.s.Actors[i]
		if a.Kind != clusterAPI {
			continue
		}
		f := Finding{
			Severity: Warn,
			Unknown:  a.Active == cluster.Unknown,
			Object:   a.Object,
			Message: fmt.Sprintf("Cluster API made nodes of this cluster (%s)%s: when it sees versions that it did not ask for, it may "+
				"replace the machines",
				a.Object, actorDetail(a)),
			Remedy: "Pause it for the time of the upgrade (spec.paused of the Cluster), and set the new versions there before it goes on.",
		}
		if a.Active == cluster.Yes {
			f.Severity = Block
			f.Message = fmt.Sprintf("Cluster API is changing machines of this cluster (%s)%s", a.Object, actorDetail(a))
		}
		found = append(found, f)
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
		Remedy:  fmt.Sprintf("Let it finish, or end it: refit abort %s", v.s.Others[0]),
	}}
}
