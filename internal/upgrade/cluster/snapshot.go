package cluster

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Format is the format of a saved Snapshot. Decode rejects a newer one.
const Format = 1

// Snapshot is the observed state of a cluster at one moment.
type Snapshot struct {
	// APIVersion and Kind name the format in a file.
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	TakenAt    time.Time `json:"takenAt"`

	// UID is the UID of the namespace kube-system, which identifies the cluster.
	UID string `json:"uid,omitempty"`
	// Version is the version of the API endpoint. APIServers has that of each API server.
	Version string `json:"version,omitempty"`

	// Gaps are the parts that could not be read.
	Gaps []Gap `json:"gaps,omitempty"`

	Nodes []Node `json:"nodes"`
	// VirtualNodes are Nodes without a machine, by name, sorted. They are not in Nodes.
	VirtualNodes []string `json:"virtualNodes,omitempty"`

	Workloads  []Workload  `json:"workloads,omitempty"` // Node.Pods refers to them by index
	Budgets    []Budget    `json:"budgets,omitempty"`
	Webhooks   []Webhook   `json:"webhooks,omitempty"`
	APIs       []APIGroup  `json:"apiServices,omitempty"` // aggregated APIs only
	CRDs       []CRD       `json:"crds,omitempty"`
	Volumes    []Volume    `json:"volumes,omitempty"`  // that a release may break
	Services   []Service   `json:"services,omitempty"` // that a release may break
	Helm       []Helm      `json:"helm,omitempty"`
	APIServers []APIServer `json:"apiServers,omitempty"`
	Kubeadm    *Kubeadm    `json:"kubeadm,omitempty"`
	Endpoint   Endpoint    `json:"endpoint,omitzero"`
	Releases   []Release   `json:"releases,omitempty"`
	Actors     []Actor     `json:"actors,omitempty"` // other controllers that change nodes

	// Operation is the upgrade that decisions are about. Others are the older operations that have
	// not ended, the oldest first; without an Operation, all that have not ended.
	Operation *Operation `json:"operation,omitempty"`
	Others    []string   `json:"others,omitempty"`
	// Backups are the EtcdBackups that the Operation has created.
	Backups      []Backup      `json:"backups,omitempty"`
	BackupStores []BackupStore `json:"backupStores,omitempty"`
	// Windows are the MaintenanceWindows.
	Windows []Window `json:"windows,omitempty"`
	// Components are the components of the cluster, and ComponentUpgrades the last order for each,
	// whichever operation it was for.
	Components        []Component        `json:"components,omitempty"`
	ComponentUpgrades []ComponentUpgrade `json:"componentUpgrades,omitempty"`
	// Installed is whether the cluster serves Refit's CRDs.
	Installed bool `json:"installed,omitempty"`

	// ClockOffset is how far the clock of the machine that read the cluster is ahead of the API
	// servers'.
	ClockOffset time.Duration `json:"clockOffset,omitempty"`

	// Cost is what reading the cluster took.
	Cost Cost `json:"cost,omitzero"`
}

// Cost is what reading a Snapshot took.
type Cost struct {
	Requests int           `json:"requests,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"`
	Pods     int           `json:"pods,omitempty"`
	Took     time.Duration `json:"took,omitempty"`
}

// Part is a part of a cluster that is read separately, and so can be missing separately.
type Part string

// The parts.
const (
	PartNodes       Part = "nodes"
	PartNamespaces  Part = "system namespaces"
	PartPods        Part = "pods"
	PartBudgets     Part = "budgets"
	PartWebhooks    Part = "webhooks"
	PartBackends    Part = "webhook backends"
	PartAPIServices Part = "API services"
	PartCRDs        Part = "CRDs"
	PartVolumes     Part = "volumes"
	PartServices    Part = "services"
	PartHelm        Part = "Helm releases"
	PartAPIServers  Part = "API servers"
	PartDeprecated  Part = "deprecated API requests"
	PartKubeadm     Part = "kubeadm configuration"
	PartEndpoint    Part = "API endpoint"
	PartReleases    Part = "ClusterReleases"
	PartReports     Part = "NodeReports"
	PartUpgrades    Part = "NodeUpgrades"
	PartOperations  Part = "ClusterUpgrades"
	PartBackups     Part = "EtcdBackups"
	PartStores      Part = "BackupStores"
	PartWindows     Part = "MaintenanceWindows"
	PartComponents  Part = "Components"
	PartOrders      Part = "ComponentUpgrades"
	PartActors      Part = "other actors"
)

// GapKind is why a part could not be read, which determines whether it blocks.
type GapKind string

// The kinds of gaps.
const (
	GapForbidden   GapKind = "Forbidden"   // by RBAC; the message names the permission
	GapUnreachable GapKind = "Unreachable" // from here; perhaps not from the cluster
	GapAbsent      GapKind = "Absent"      // the API is not served, or the object does not exist
	GapFailed      GapKind = "Failed"      // the request failed
)

// Gap is a part that could not be read, or one object of it.
type Gap struct {
	Part    Part    `json:"part"`
	Object  string  `json:"object,omitempty"` // empty for the whole part
	Kind    GapKind `json:"kind"`
	Message string  `json:"message"`
}

// Gap returns the gap of a whole part, if there is one.
func (s *Snapshot) Gap(part Part) (Gap, bool) {
	for _, gap := range s.Gaps {
		if gap.Part == part && gap.Object == "" {
			return gap, true
		}
	}
	return Gap{}, false
}

// Answer is a fact that may be unknown. Its zero value is Unknown.
type Answer string

// The answers.
const (
	Unknown Answer = ""
	Yes     Answer = "Yes"
	No      Answer = "No"
)

// Window is the part of a MaintenanceWindow that decisions need.
type Window struct {
	Name string                              `json:"name"`
	Spec refitv1alpha1.MaintenanceWindowSpec `json:"spec"`
}

// Operation is the part of a ClusterUpgrade that decisions need.
type Operation struct {
	Name       string                           `json:"name"`
	UID        string                           `json:"uid"`
	Generation int64                            `json:"generation,omitempty"`
	Spec       refitv1alpha1.ClusterUpgradeSpec `json:"spec"`
	Epoch      int64                            `json:"epoch,omitempty"`
	Active     []string                         `json:"active,omitempty"`
	Plan       *refitv1alpha1.PlanSummary       `json:"plan,omitempty"`
	Ended      bool                             `json:"ended,omitempty"` // Succeeded or Aborted
	// ApprovedAt is when the plan was approved, zero if it is not.
	ApprovedAt time.Time `json:"approvedAt,omitzero"`
}
