package cluster

// Workload is the pods of one owner that the same budgets select: 200 replicas are one Workload and
// a count on each node. An owner whose pods have different budgets has one Workload for each set of
// budgets; see Snapshot.Owners. A pod without an owner is a Workload of kind Pod.
type Workload struct {
	Namespace string `json:"namespace"`
	// Kind is the kind of the owner: Deployment, StatefulSet, …; Node for a static pod, Pod for a
	// pod without an owner.
	Kind string `json:"kind"`
	Name string `json:"name"`

	Pods  int32 `json:"pods"`            // that have not terminated
	Ready int32 `json:"ready,omitempty"` // of those

	// Budgets are the names of the PodDisruptionBudgets that select its pods. With more than one,
	// the API rejects evictions.
	Budgets []string `json:"budgets,omitempty"`

	// Request is the largest request of a pod.
	Request Resources `json:"request,omitzero"`
	// Priority is that of its pods, GraceSeconds their longest termination grace period.
	Priority     int32 `json:"priority,omitempty"`
	GraceSeconds int64 `json:"graceSeconds,omitempty"`

	// Tolerations are those that all of its pods have.
	Tolerations []Toleration `json:"tolerations,omitempty"`

	LocalData   bool     `json:"localData,omitempty"`   // an eviction loses its emptyDir
	LocalVolume bool     `json:"localVolume,omitempty"` // a local PersistentVolume binds it
	NodeBound   bool     `json:"nodeBound,omitempty"`   // selector or affinity binds it
	Finalizers  []string `json:"finalizers,omitempty"`
	Terminating int32    `json:"terminating,omitempty"` // terminating pods
	Stuck       int32    `json:"stuck,omitempty"`       // of those, past their grace period
	VolumeKinds []string `json:"volumeKinds,omitempty"` // inline, such as gitRepo
	SafeToEvict Answer   `json:"safeToEvict,omitempty"` // the cluster autoscaler's annotation
}

// The Deployments of Refit's controller and of refit-components. A drain leaves their pods in
// place: they run on control plane nodes only, also on cordoned ones, and may have no other node to
// move to. Those of the controller decide what follows the drain.
const (
	ControllerNamespace = "refit-system"
	ControllerName      = "refit-controller"
	ComponentsNamespace = "refit-components"
	ComponentsName      = "refit-components"
)

// IsRefit reports whether a name is that of a Deployment of Refit, which is also the value of the
// label app.kubernetes.io/name of its pods.
func IsRefit(namespace, name string) bool {
	return namespace == ControllerNamespace && name == ControllerName || namespace == ComponentsNamespace && name == ComponentsName
}

// Moves reports whether a drain evicts these pods: DaemonSet and static pods stay, and so do those
// of Refit.
func (w *Workload) Moves() bool {
	return w.Kind != "DaemonSet" && w.Kind != "Node" && (w.Kind != "Deployment" || !IsRefit(w.Namespace, w.Name))
}

// MayKeepData reports whether these pods may keep data in an emptyDir that an eviction deletes.
func (w *Workload) MayKeepData() bool { return w.LocalData && w.Moves() && MayKeepData(w.Kind) }

// MayKeepData reports whether pods of an owner of this kind may keep data: those of a StatefulSet
// and of other controllers, unlike those of the controllers whose pods are interchangeable. A pod
// without an owner has a check of its own.
func MayKeepData(kind string) bool {
	switch kind {
	case "Deployment", "ReplicaSet", "ReplicationController", "Job", "CronJob", "DaemonSet", "Node", "Pod", "":
		return false
	}
	return true
}

// Unmanaged reports whether nothing recreates these pods.
func (w *Workload) Unmanaged() bool { return w.Kind == "Pod" }

// PodSet is how many pods of a workload a node has. Its JSON is short: there may be 150,000 of
// them.
type PodSet struct {
	Workload int   `json:"w"`           // index into Snapshot.Workloads
	Count    int32 `json:"n"`           // pods on this node
	Free     int32 `json:"f,omitempty"` // of those, pending or terminating: not protected
	Unready  int32 `json:"u,omitempty"` // of the others, not ready
}

// Guarded is how many of the pods their budgets protect.
func (p PodSet) Guarded() int32 { return max(0, p.Count-max(0, p.Free)) }

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace      string `json:"namespace"`
	Name           string `json:"name"`
	MinAvailable   string `json:"minAvailable,omitempty"`   // as written, a number or a percentage
	MaxUnavailable string `json:"maxUnavailable,omitempty"` // as written
	// AlwaysAllowUnhealthy is the unhealthyPodEvictionPolicy AlwaysAllow.
	AlwaysAllowUnhealthy bool `json:"alwaysAllowUnhealthy,omitempty"`
	SelectsAll           bool `json:"selectsAll,omitempty"` // by an empty selector

	Expected int32 `json:"expected"` // pods by the scale of their controllers
	Healthy  int32 `json:"healthy"`
	Desired  int32 `json:"desired"` // healthy pods that it requires
	Allowed  int32 `json:"allowed"` // disruptions that it allows now
	Matched  int32 `json:"matched"` // pods that match its selector
	// Observed is whether its status is of its current spec. Otherwise Allowed is not valid.
	Observed bool   `json:"observed"`
	Failure  string `json:"failure,omitempty"` // of the condition, if SyncFailed
}

// Key is namespace/name.
func (b *Budget) Key() string { return b.Namespace + "/" + b.Name }
