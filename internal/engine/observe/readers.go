package observe

import (
	"context"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// reader fills one part of a Snapshot.
type reader struct {
	part cluster.Part
	says string // what a person who waits is told
	read func(*gathering, context.Context) error
}

// stages are all readers. Those of a stage run side by side and write to different fields; a stage sees what the ones before it have read.
var stages = [][]reader{
	{ // what others refer to
		{cluster.PartNodes, "nodes", (*gathering).readNodes},
		{cluster.PartNamespaces, "system namespaces", (*gathering).readNamespaces},     // which webhooks reach them
		{cluster.PartBudgets, "disruption budgets", (*gathering).readBudgets},          // whose selectors pods are matched with
		{cluster.PartVolumes, "persistent volumes", (*gathering).readVolumes},          // which claims bind a pod to a node
		{cluster.PartOperations, "whether Refit is installed", (*gathering).readRefit}, // else its objects need not be asked for
	},
	{ // what needs only those
		{cluster.PartPods, "pods", (*gathering).readPods},
		{cluster.PartReports, "reports of the nodes' agents", (*gathering).readReports},
		{cluster.PartUpgrades, "work on nodes", (*gathering).readUpgrades},
		{cluster.PartWebhooks, "admission webhooks", (*gathering).readWebhooks},
		{cluster.PartAPIServices, "aggregated APIs", (*gathering).readAPIServices},
		{cluster.PartCRDs, "custom resource definitions", (*gathering).readCRDs},
		{cluster.PartServices, "services", (*gathering).readServices},
		{cluster.PartKubeadm, "kubeadm's configuration", (*gathering).readKubeadm},
		{cluster.PartReleases, "Releases", (*gathering).readReleases},
		{cluster.PartOperations, "operations", (*gathering).readOperations},
		{cluster.PartActors, "leases", (*gathering).readLeases},
		{cluster.PartHelm, "Helm releases", (*gathering).readHelm},
	},
	{ // what follows from the rest
		{cluster.PartBackends, "pods behind webhooks and aggregated APIs", (*gathering).readBackends},
		{cluster.PartAPIServers, "each API server by itself", (*gathering).readAPIServers}, // deprecated API requests too
		{cluster.PartEndpoint, "who holds the API endpoint", (*gathering).readEndpoint},
		{cluster.PartActors, "others that change nodes", (*gathering).readActors},
	},
}
