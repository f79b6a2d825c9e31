package observe

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// sign is what gives away that somebody else changes nodes, or moves pods and versions about. Everything in it was read for other reasons.
type sign struct {
	kind       string
	leases     []string // of kube-system
	workloads  []string // names of Deployments, DaemonSets and StatefulSets
	crds       []string
	annotation string // on nodes
}

// signs are all that are known.
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

// nodeSign is a sign that nodes carry.
type nodeSign struct {
	node  string // the first one
	nodes int
}

// lookForSigns looks at a node's annotations before they are dropped.
func (g *gathering) lookForSigns(n *corev1.Node) {
	for _, s := range signs {
		if s.annotation == "" {
			continue
		}
		if value, carries := n.Annotations[s.annotation]; carries && value != "false" { // some leave it there when they are done
			seen := g.nodeSigns[s.kind]
			if seen.nodes == 0 {
				seen.node = n.Name
			}
			seen.nodes++
			g.nodeSigns[s.kind] = seen
		}
	}
}

// readActors asks for nothing: it puts together what others have read.
func (g *gathering) readActors(context.Context) error {
	for _, s := range signs {
		if actor, found := g.actor(s); found {
			g.snapshot.Actors = append(g.snapshot.Actors, actor)
		}
	}
	return nil
}

// actor looks for an actor's signs, the most telling first: who holds a Lease is at work, a definition may have been left behind.
func (g *gathering) actor(s sign) (cluster.Actor, bool) {
	for _, name := range s.leases {
		if l, found := g.leases[name]; found && l.holder != "" {
			return cluster.Actor{Kind: s.kind, Object: "Lease " + kubeSystem + "/" + name, Active: answer(l.held), Detail: "held by " + l.holder}, true
		}
	}
	if seen, found := g.nodeSigns[s.kind]; found {
		return cluster.Actor{Kind: s.kind, Object: "Node " + seen.node, Active: cluster.Yes, Detail: "annotation " + s.annotation}, true
	}
	for i, owner := range g.snapshot.Owners() {
		w := &g.snapshot.Workloads[i]
		if runsForLong(w.Kind) && slices.Contains(s.workloads, w.Name) {
			return cluster.Actor{Kind: s.kind, Object: w.Kind + " " + w.Namespace + "/" + w.Name, Active: answer(owner.Ready > 0)}, true
		}
	}
	for i := range g.snapshot.CRDs {
		if name := g.snapshot.CRDs[i].Name; slices.Contains(s.crds, name) {
			return cluster.Actor{Kind: s.kind, Object: "CustomResourceDefinition " + name, Detail: "nobody was seen to act on it"}, true
		}
	}
	return cluster.Actor{}, false
}

func runsForLong(kind string) bool {
	return kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet"
}
