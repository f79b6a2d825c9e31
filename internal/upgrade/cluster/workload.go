package cluster

// Workload is the pods of one owner that the same budgets cover, folded into one entry: two hundred replicas are one Workload and a number on
// each node. An owner whose pods are covered by different budgets has an entry for each set of them; see Snapshot.Owners.
// A pod without an owner is a Workload of kind Pod.
type Workload struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"` // Deployment, StatefulSet, DaemonSet, Job, ReplicaSet, Node (a static pod), Pod (nobody), or another owner's kind
	Name      string `json:"name"`

	Pods  int32 `json:"pods"`            // that have not ended
	Ready int32 `json:"ready,omitempty"` // of those

	// Budgets are the names of the PodDisruptionBudgets of its namespace that cover each of its pods. More than one: the API refuses to evict them.
	Budgets []string `json:"budgets,omitempty"`

	// Request is what one pod asks for, the largest of them.
	Request Resources `json:"request,omitzero"`
	// Priority of its pods, and the longest time that one may take to end, in seconds.
	Priority     int32 `json:"priority,omitempty"`
	GraceSeconds int64 `json:"graceSeconds,omitempty"`

	LocalData   bool     `json:"localData,omitempty"`   // has an emptyDir that a move would lose
	LocalVolume bool     `json:"localVolume,omitempty"` // is bound to one node by a persistent volume on its disk
	NodeBound   bool     `json:"nodeBound,omitempty"`   // can run on this node only (hostname selector or affinity)
	Finalizers  []string `json:"finalizers,omitempty"`
	Terminating int32    `json:"terminating,omitempty"` // pods that were asked to end and have not
	Stuck       int32    `json:"stuck,omitempty"`       // of those, whose time to end is over
	VolumeKinds []string `json:"volumeKinds,omitempty"` // kinds of inline volumes that a release may remove: gitRepo and the like
	SafeToEvict Answer   `json:"safeToEvict,omitempty"` // annotation of that name: No holds an autoscaler off
}

// Moves says whether a drain has to move these pods: DaemonSet and static pods stay.
func (w *Workload) Moves() bool { return w.Kind != "DaemonSet" && w.Kind != "Node" }

// Unmanaged says whether nobody makes these pods anew.
func (w *Workload) Unmanaged() bool { return w.Kind == "Pod" }

// PodSet is how many pods of a workload a node has. Its JSON is short because there may be 150,000 of them.
type PodSet struct {
	Workload int   `json:"w"`           // index into Snapshot.Workloads
	Count    int32 `json:"n"`           // pods on this node
	Free     int32 `json:"f,omitempty"` // of those, that may go whatever their budgets say: they never started, or were asked to end
	Unready  int32 `json:"u,omitempty"` // of the others, that are not ready
}

// Guarded is how many of the pods need the leave of their budgets to go.
func (p PodSet) Guarded() int32 { return max(0, p.Count-max(0, p.Free)) }

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace      string `json:"namespace"`
	Name           string `json:"name"`
	MinAvailable   string `json:"minAvailable,omitempty"`   // as written, a number or a percentage
	MaxUnavailable string `json:"maxUnavailable,omitempty"` // as written
	// AlwaysAllowUnhealthy is unhealthyPodEvictionPolicy AlwaysAllow: pods that are not ready may always go.
	AlwaysAllowUnhealthy bool `json:"alwaysAllowUnhealthy,omitempty"`
	SelectsAll           bool `json:"selectsAll,omitempty"` // an empty selector: every pod of the namespace

	Expected int32 `json:"expected"` // pods that its controllers want
	Healthy  int32 `json:"healthy"`
	Desired  int32 `json:"desired"` // healthy pods that it asks for
	Allowed  int32 `json:"allowed"` // disruptions that it allows now
	Matched  int32 `json:"matched"` // pods that were seen to match
	// Observed says whether its status speaks of its newest spec; if not, Allowed means nothing.
	Observed bool   `json:"observed"`
	Failure  string `json:"failure,omitempty"` // message of a DisruptionAllowed condition with reason SyncFailed
}

// Key is namespace/name.
func (b *Budget) Key() string { return b.Namespace + "/" + b.Name }
