package cluster

import (
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Node is one machine of the cluster.
type Node struct {
	Name         string            `json:"name"`
	UID          string            `json:"uid,omitempty"`
	ControlPlane bool              `json:"controlPlane,omitempty"`
	Zone         string            `json:"zone,omitempty"`
	Labels       map[string]string `json:"labels,omitempty"`
	Taints       []Taint           `json:"taints,omitempty"`
	Addresses    []string          `json:"addresses,omitempty"` // internal ones
	CreatedAt    time.Time         `json:"createdAt,omitzero"`

	Kubelet   string `json:"kubelet"`             // version, v1.35.4
	KubeProxy string `json:"kubeProxy,omitempty"` // version of the pod on this node
	Runtime   string `json:"runtime,omitempty"`   // containerd://1.6.20
	OS        string `json:"os,omitempty"`        // linux, windows
	OSImage   string `json:"osImage,omitempty"`
	Arch      string `json:"arch,omitempty"`
	Kernel    string `json:"kernel,omitempty"`

	Ready      Answer    `json:"ready,omitempty"`
	ReadySince time.Time `json:"readySince,omitzero"` // when Ready last changed
	// Pressure are those of MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable that are
	// True.
	Pressure []string `json:"pressure,omitempty"`

	// Unschedulable is the cordon. CordonedBy is the UID of the operation that cordoned the node,
	// empty if Refit did not.
	Unschedulable bool   `json:"unschedulable,omitempty"`
	CordonedBy    string `json:"cordonedBy,omitempty"`
	// ProtectedBy is the UID of the operation that keeps autoscalers from removing the node.
	ProtectedBy string `json:"protectedBy,omitempty"`

	Allocatable Resources `json:"allocatable,omitzero"`
	Pods        []PodSet  `json:"pods,omitempty"`

	// Static are the static pods of the control plane by component: kube-apiserver,
	// kube-controller-manager, kube-scheduler, etcd.
	Static map[string]StaticPod `json:"static,omitempty"`

	// Report is the report of the node's agent, nil without one, and ReportRequest its
	// spec.request. Upgrade is the node's NodeUpgrade, nil without one.
	Report        *refitv1alpha1.NodeReportStatus `json:"report,omitempty"`
	ReportRequest int64                           `json:"reportRequest,omitempty"`
	Upgrade       *Upgrade                        `json:"upgrade,omitempty"`
}

// Upgrade is the part of a NodeUpgrade that decisions need.
type Upgrade struct {
	// Generation is that of the order, which conditions of the agent refer to.
	Generation int64 `json:"generation,omitempty"`

	Spec   refitv1alpha1.NodeUpgradeSpec   `json:"spec"`
	Status refitv1alpha1.NodeUpgradeStatus `json:"status"`
}

// Taint is a node's taint.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Toleration is a toleration of a pod, without a limit in time.
type Toleration struct {
	Key    string `json:"key,omitempty"`    // empty: of every key
	Exists bool   `json:"exists,omitempty"` // of every value
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect,omitempty"` // empty: of every effect
}

// Matches reports whether a pod with the toleration tolerates a taint.
func (t Toleration) Matches(taint Taint) bool {
	return (t.Effect == "" || t.Effect == taint.Effect) && (t.Key == taint.Key || t.Key == "" && t.Exists) && (t.Exists || t.Value == taint.Value)
}

// Resources are amounts of what pods request.
type Resources struct {
	MilliCPU int64 `json:"milliCPU,omitempty"`
	Memory   int64 `json:"memory,omitempty"` // bytes
	Pods     int64 `json:"pods,omitempty"`
}

// StaticPod is a static pod as its mirror pod shows it, manual edits of its manifest included.
type StaticPod struct {
	Image   string `json:"image"`
	Version string `json:"version,omitempty"` // from the image's tag, v1.35.4 or 3.6.6
	Ready   bool   `json:"ready,omitempty"`
	// Flags are its flags without dashes. Only flags that decisions need have values: a value may
	// be a secret.
	Flags map[string]string `json:"flags,omitempty"`
}

// IsReady reports whether the node is known to be ready.
func (n *Node) IsReady() bool { return n.Ready == Yes }

// joiningPeriod is how long after its creation a node may change for the first time from or to not
// ready: Kubernetes does so after a minute if the kubelet has not responded.
const joiningPeriod = 2 * time.Minute

// joinTimeout is how long a node counts as joining. Autoscalers remove a node that does not become
// ready after 15 to 20 minutes.
const joinTimeout = 30 * time.Minute

// IsJoining reports whether the node has joined and has probably not been ready since. It may also
// have been ready for a moment, so it counts as joining only for a time.
func (n *Node) IsJoining(now time.Time) bool {
	return !n.IsReady() && !n.CreatedAt.IsZero() && n.ReadySince.Before(n.CreatedAt.Add(joiningPeriod)) && now.Before(n.CreatedAt.Add(joinTimeout))
}
