package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// sign is evidence of another controller that changes nodes, pods or versions. Everything in it is
// read for other reasons.
type sign struct {
	kind       string
	leases     []string // of kube-system
	workloads  []string // names of Deployments, DaemonSets and StatefulSets
	crds       []string
	annotation string // on nodes
}

// signs are the known controllers.
var signs = []sign{
	{kind: "ClusterAutoscaler", leases: []string{"cluster-autoscaler"}, workloads: []string{"cluster-autoscaler"}},
	{kind: "Karpenter", leases: []string{"karpenter-leader-election"}, workloads: []string{"karpenter"}, crds: []string{"nodeclaims.karpenter.sh"}},
	{kind: "ClusterAPI", annotation: "cluster.x-k8s.io/machine"},
	{kind: "SystemUpgradeController", workloads: []string{"system-upgrade-controller"}, crds: []string{"plans.upgrade.cattle.io"}},
	{kind: "K0sAutopilot", crds: []string{"plans.autopilot.k0sproject.io"}},
	{kind: "ClusterVersionOperator", workloads: []string{"cluster-version-operator"}, crds: []string{"clusterversions.config.openshift.io"}},
	{kind: "Kured", workloads: []string{"kured"}, annotation: "weave.works/kured-reboot-in-progress"},
	{
		kind: "FlatcarUpdateOperator", workloads: []string{"flatcar-linux-update-operator"},
		annotation: "flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress",
	},
	{kind: "Descheduler", leases: []string{"descheduler"}, workloads: []string{"descheduler"}},
	{
		kind: "NodeMaintenance", workloads: []string{"node-maintenance-operator-controller-manager"},
		crds: []string{"nodemaintenances.nodemaintenance.medik8s.io"},
	},
	{kind: "Flux", workloads: []string{"kustomize-controller", "helm-controller"}, crds: []string{"kustomizations.kustomize.toolkit.fluxcd.io"}},
	{kind: "ArgoCD", workloads: []string{"argocd-application-controller"}, crds: []string{"applications.argoproj.io"}},
}

// nodeSign is an annotation of such a controller on nodes.
type nodeSign struct {
	node  string // the first one
	nodes int
}

// collectSigns reads the annotations of a node, which are dropped later.
func (obs *observation) collectSigns(n *corev1.Node) {
	for _, s := range signs {
		if s.annotation == "" {
			continue
		}
		// Some controllers keep it afterwards.
		if value, carries := n.Annotations[s.annotation]; carries && value != "false" {
			seen := obs.nodeSigns[s.kind]
			if seen.nodes == 0 {
				seen.node = n.Name
			}
			seen.nodes++
			obs.nodeSigns[s.kind] = seen
		}
	}
}

// readActors sends no requests: it combines the results of other readers.
func (obs *observation) readActors(context.Context) error {
	for _, s := range signs {
		if actor, found := obs.actor(s); found {
			obs.snapshot.Actors = append(obs.snapshot.Actors, actor)
		}
	}
	return nil
}

// actor returns the strongest evidence of a controller: the holder of a Lease is active, while a
// CRD may be left over.
func (obs *observation) actor(s sign) (cluster.Actor, bool) {
	for _, name := range s.leases {
		if l, found := obs.leases[name]; found && l.holder != "" {
			return cluster.Actor{Kind: s.kind, Object: "Lease " + kubeSystem + "/" + name, Active: answer(l.held), Detail: "held by " + l.holder}, true
		}
	}
	if seen, found := obs.nodeSigns[s.kind]; found {
		return cluster.Actor{Kind: s.kind, Object: "Node " + seen.node, Active: cluster.Yes, Detail: "annotation " + s.annotation}, true
	}
	for i, owner := range obs.snapshot.Owners() {
		w := &obs.snapshot.Workloads[i]
		if isLongRunning(w.Kind) && slices.Contains(s.workloads, w.Name) {
			return cluster.Actor{Kind: s.kind, Object: w.Kind + " " + w.Namespace + "/" + w.Name, Active: answer(owner.Ready > 0)}, true
		}
	}
	for i := range obs.snapshot.CRDs {
		if name := obs.snapshot.CRDs[i].Name; slices.Contains(s.crds, name) {
			return cluster.Actor{Kind: s.kind, Object: "CustomResourceDefinition " + name, Detail: "no active controller found"}, true
		}
	}
	return cluster.Actor{}, false
}

func isLongRunning(kind string) bool {
	return kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet"
}
