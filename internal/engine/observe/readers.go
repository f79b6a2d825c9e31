package observe

import (
	"context"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// reader fills one part of a Snapshot.
type reader struct {
	part cluster.Part
	name string // for progress output
	read func(*observation, context.Context) error
}

// stages are all readers. The readers of a stage run concurrently and write to different fields. A
// stage uses what the stages before it have read.
var stages = [][]reader{
	{ // referenced by others
		{cluster.PartNodes, "nodes", (*observation).readNodes},
		// Webhooks are matched with their labels.
		{cluster.PartNamespaces, "system namespaces", (*observation).readNamespaces},
		// Pods are matched with their selectors.
		{cluster.PartBudgets, "PodDisruptionBudgets", (*observation).readBudgets},
		// Claims may bind a pod to a node.
		{cluster.PartVolumes, "persistent volumes", (*observation).readVolumes},
		// Else its objects are not read.
		{cluster.PartOperations, "installation of Refit", (*observation).readRefit},
	},
	{ // need only those
		{cluster.PartPods, "pods", (*observation).readPods},
		{cluster.PartReports, "NodeReports", (*observation).readReports},
		{cluster.PartUpgrades, "NodeUpgrades", (*observation).readUpgrades},
		{cluster.PartWebhooks, "admission webhooks", (*observation).readWebhooks},
		{cluster.PartAPIServices, "aggregated APIs", (*observation).readAPIServices},
		{cluster.PartCRDs, "custom resource definitions", (*observation).readCRDs},
		{cluster.PartServices, "services", (*observation).readServices},
		{cluster.PartKubeadm, "kubeadm configuration", (*observation).readKubeadm},
		{cluster.PartReleases, "ClusterReleases", (*observation).readReleases},
		{cluster.PartOperations, "ClusterUpgrades", (*observation).readOperations},
		{cluster.PartStores, "BackupStores", (*observation).readBackupStores},
		{cluster.PartWindows, "MaintenanceWindows", (*observation).readWindows},
		{cluster.PartComponents, "Components", (*observation).readComponents},
		{cluster.PartOrders, "ComponentUpgrades", (*observation).readComponentUpgrades},
		{cluster.PartActors, "leases", (*observation).readLeases},
		{cluster.PartHelm, "Helm releases", (*observation).readHelm},
	},
	{ // derived from the rest
		{cluster.PartBackends, "pods behind webhooks and aggregated APIs", (*observation).readBackends},
		// And their deprecated API requests.
		{cluster.PartAPIServers, "API servers", (*observation).readAPIServers},
		{cluster.PartEndpoint, "holder of the API endpoint", (*observation).readEndpoint},
		{cluster.PartKubeadm, "patches of the kubeadm configuration", (*observation).readConfigured},
		{cluster.PartActors, "other controllers that change nodes", (*observation).readActors},
		// Those of the operation.
		{cluster.PartBackups, "EtcdBackups", (*observation).readBackups},
	},
}
