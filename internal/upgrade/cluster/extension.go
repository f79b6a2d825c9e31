package cluster

import "time"

// Webhook is one webhook of an admission configuration.
type Webhook struct {
	Configuration string `json:"configuration"`
	Mutating      bool   `json:"mutating,omitempty"`
	Name          string `json:"name"`
	FailClosed    bool   `json:"failClosed,omitempty"` // failurePolicy Fail
	Equivalent    bool   `json:"equivalent,omitempty"` // matchPolicy Equivalent
	TimeoutSec    int32  `json:"timeoutSeconds,omitempty"`
	// Resources are what it intercepts on create and update, as group/resource or
	// group/resource/subresource, "*" for all.
	Resources []string `json:"resources,omitempty"`
	// OnlyNamespaced and OnlyCluster are those of Resources whose rule has the scope Namespaced or
	// Cluster.
	OnlyNamespaced []string `json:"onlyNamespaced,omitempty"`
	OnlyCluster    []string `json:"onlyCluster,omitempty"`
	// Reaches are those of the namespaces kube-system and kube-node-lease that its selectors match.
	// ReachesItself is whether they match the namespace of its own Backend: without its pods, it
	// may keep them from being recreated.
	Reaches       []string `json:"reaches,omitempty"`
	ReachesItself bool     `json:"reachesItself,omitempty"`
	// HasObjectSelector and HasMatchConditions mean that it may skip system objects in a way that
	// only the API server can evaluate.
	HasObjectSelector  bool `json:"hasObjectSelector,omitempty"`
	HasMatchConditions bool `json:"hasMatchConditions,omitempty"`

	URL     string   `json:"url,omitempty"` // of an external webhook, without path
	Backend *Backend `json:"backend,omitempty"`
	// CANotAfter is when the last certificate of its CA bundle expires, CAError why the bundle
	// could not be read. Both are empty without a bundle.
	CANotAfter time.Time `json:"caNotAfter,omitzero"`
	CAError    string    `json:"caError,omitempty"`
}

// Backend is a Service that a webhook, API or conversion depends on, and its pods.
type Backend struct {
	Namespace string   `json:"namespace"`
	Service   string   `json:"service"`
	Found     Answer   `json:"found,omitempty"`
	Ready     int32    `json:"ready"`
	Nodes     []string `json:"nodes,omitempty"` // of its ready endpoints, unique
}

// APIGroup is an APIService that an extension API server serves.
type APIGroup struct {
	Name      string   `json:"name"` // v1beta1.metrics.k8s.io
	Available Answer   `json:"available,omitempty"`
	Message   string   `json:"message,omitempty"`
	Backend   *Backend `json:"backend,omitempty"`
}

// CRD is a CustomResourceDefinition.
type CRD struct {
	Name           string   `json:"name"`
	Group          string   `json:"group"`
	Kind           string   `json:"kind"`
	Versions       []string `json:"versions"`       // all of its versions
	Served         []string `json:"served"`         // of those
	Storage        string   `json:"storage"`        // the storage version
	StoredVersions []string `json:"storedVersions"` // that etcd may contain
	Established    Answer   `json:"established,omitempty"`
	Message        string   `json:"message,omitempty"` // of the condition, if it is not established
	Conversion     *Backend `json:"conversion,omitempty"`
}

// Volume is a PersistentVolume of a kind that a release may remove.
type Volume struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // the field of its source: awsElasticBlockStore, …
}

// Service is a Service that uses a field that a release may remove.
type Service struct {
	Namespace   string   `json:"namespace"`
	Name        string   `json:"name"`
	ExternalIPs []string `json:"externalIPs,omitempty"`
}

// Helm is the newest stored revision of a Helm release. Of its manifest it contains only the names
// of objects: values and content may be secret.
type Helm struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Revision  int      `json:"revision"`
	Status    string   `json:"status"` // deployed, pending-upgrade, …
	Chart     string   `json:"chart,omitempty"`
	Objects   []Object `json:"objects,omitempty"`
}

// Object is the name of an object and its API version.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Actor is another controller that changes nodes or versions.
type Actor struct {
	Kind   string `json:"kind"`   // ClusterAutoscaler, Karpenter, ClusterAPI, Kured, …
	Object string `json:"object"` // by which it was detected
	Active Answer `json:"active,omitempty"`
	Detail string `json:"detail,omitempty"`
}
