package cluster

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Format is the format of a saved Snapshot. A reader refuses a newer one than it knows.
const Format = 1

// Snapshot is what was seen of a cluster at one moment.
type Snapshot struct {
	// APIVersion and Kind name the format in a file.
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	TakenAt    time.Time `json:"takenAt"`

	// UID is the UID of the namespace kube-system, which stands for the cluster.
	UID string `json:"uid,omitempty"`
	// Version is what the API endpoint said; each API server is in APIServers.
	Version string `json:"version,omitempty"`

	// Gaps are the parts that could not be read.
	Gaps []Gap `json:"gaps,omitempty"`

	Nodes      []Node      `json:"nodes"`
	Workloads  []Workload  `json:"workloads,omitempty"` // Node.Pods refers to them by index
	Budgets    []Budget    `json:"budgets,omitempty"`
	Webhooks   []Webhook   `json:"webhooks,omitempty"`
	APIs       []APIGroup  `json:"apiServices,omitempty"` // aggregated APIs only
	CRDs       []CRD       `json:"crds,omitempty"`
	Volumes    []Volume    `json:"volumes,omitempty"`  // persistent volumes that need a look
	Services   []Service   `json:"services,omitempty"` // services that need a look
	Helm       []Helm      `json:"helm,omitempty"`
	APIServers []APIServer `json:"apiServers,omitempty"`
	Kubeadm    *Kubeadm    `json:"kubeadm,omitempty"`
	Endpoint   Endpoint    `json:"endpoint,omitzero"`
	Releases   []Release   `json:"releases,omitempty"`
	Actors     []Actor     `json:"actors,omitempty"` // others that change nodes: autoscalers, upgraders, Cluster API, GitOps

	// Operation is the upgrade that this Snapshot is thought about for, and Others those that are unfinished and older, the oldest first. Without an Operation
	// they are all that are unfinished.
	Operation *Operation `json:"operation,omitempty"`
	Others    []string   `json:"others,omitempty"`
	// Installed says whether Refit's own objects are served by this cluster.
	Installed bool `json:"installed,omitempty"`

	// Cost is what it took to see all this.
	Cost Cost `json:"cost,omitzero"`
}

// Cost is what it took to gather a Snapshot.
type Cost struct {
	Requests int           `json:"requests,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"`
	Pods     int           `json:"pods,omitempty"`
	Took     time.Duration `json:"took,omitempty"`
}

// Part is a part of a cluster that is read on its own, and so can be missing on its own.
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
	PartReleases    Part = "Releases"
	PartReports     Part = "NodeReports"
	PartUpgrades    Part = "NodeUpgrades"
	PartOperations  Part = "ClusterUpgrades"
	PartActors      Part = "other actors"
)

// GapKind is why a part could not be read, which decides whether it may block.
type GapKind string

// The kinds of gaps.
const (
	GapForbidden   GapKind = "Forbidden"   // the person lacks the right; the message says which
	GapUnreachable GapKind = "Unreachable" // from where the reader stands, such as a laptop; it may well be reachable from the cluster
	GapAbsent      GapKind = "Absent"      // the API is not served, or the object is not there
	GapFailed      GapKind = "Failed"      // it was asked and answered with an error
)

// Gap is a part that could not be read, or one object of it.
type Gap struct {
	Part    Part    `json:"part"`
	Object  string  `json:"object,omitempty"` // empty: the whole part
	Kind    GapKind `json:"kind"`
	Message string  `json:"message"`
}

// Gap returns the gap in a whole part, if it could not be read.
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

// Operation is a ClusterUpgrade as far as decisions need it.
type Operation struct {
	Name       string                           `json:"name"`
	UID        string                           `json:"uid"`
	Generation int64                            `json:"generation,omitempty"`
	Spec       refitv1alpha1.ClusterUpgradeSpec `json:"spec"`
	Epoch      int64                            `json:"epoch,omitempty"`
	Active     []string                         `json:"active,omitempty"`
	Plan       *refitv1alpha1.PlanSummary       `json:"plan,omitempty"`
	Ended      bool                             `json:"ended,omitempty"` // Succeeded or Aborted
}
