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
	// Resources are what it is asked about when something is created or changed, as group/resource or group/resource/subresource, "*" for all.
	Resources []string `json:"resources,omitempty"`
	// OnlyNamespaced and OnlyCluster are those of Resources that it is asked about only in namespaces, and only outside of any (a rule's scope).
	OnlyNamespaced []string `json:"onlyNamespaced,omitempty"`
	OnlyCluster    []string `json:"onlyCluster,omitempty"`
	// Reaches are those of the namespaces kube-system and kube-node-lease that its selectors do not leave out. ReachesItself says the same of the
	// namespace of its own Backend: without its pods it may keep them from coming back.
	Reaches       []string `json:"reaches,omitempty"`
	ReachesItself bool     `json:"reachesItself,omitempty"`
	// HasObjectSelector and HasMatchConditions: it may let system objects pass in a way that only the API server can judge.
	HasObjectSelector  bool `json:"hasObjectSelector,omitempty"`
	HasMatchConditions bool `json:"hasMatchConditions,omitempty"`

	URL     string   `json:"url,omitempty"` // of a webhook outside the cluster, without path and query
	Backend *Backend `json:"backend,omitempty"`
	// CANotAfter is when the last of its CA bundle's certificates expires; CAError why it could not be read. Both empty: no bundle.
	CANotAfter time.Time `json:"caNotAfter,omitzero"`
	CAError    string    `json:"caError,omitempty"`
}

// Backend is the Service that something stands on, and the pods behind it.
type Backend struct {
	Namespace string   `json:"namespace"`
	Service   string   `json:"service"`
	Found     Answer   `json:"found,omitempty"`
	Ready     int32    `json:"ready"`
	Nodes     []string `json:"nodes,omitempty"` // of its ready endpoints, each once
}

// APIGroup is an APIService that another server stands behind.
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
	Versions       []string `json:"versions"`       // all that it defines
	Served         []string `json:"served"`         // of those
	Storage        string   `json:"storage"`        // the one that is stored
	StoredVersions []string `json:"storedVersions"` // that etcd may hold
	Established    Answer   `json:"established,omitempty"`
	Message        string   `json:"message,omitempty"` // of the condition that says why not
	Conversion     *Backend `json:"conversion,omitempty"`
}

// Volume is a persistent volume of a kind that a release may remove.
type Volume struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // the field of its source: awsElasticBlockStore, …
}

// Service is a Service that uses something that a release may remove.
type Service struct {
	Namespace   string   `json:"namespace"`
	Name        string   `json:"name"`
	ExternalIPs []string `json:"externalIPs,omitempty"`
}

// Helm is the newest stored revision of a Helm release. Of its manifest only what names an object is kept: values and content may be secret.
type Helm struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Revision  int      `json:"revision"`
	Status    string   `json:"status"` // deployed, pending-upgrade, …
	Chart     string   `json:"chart,omitempty"`
	Objects   []Object `json:"objects,omitempty"`
}

// Object names an object and the API version that it was written in.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Actor is something else that changes nodes or versions.
type Actor struct {
	Kind   string `json:"kind"`   // ClusterAutoscaler, Karpenter, ClusterAPI, SystemUpgradeController, Kured, …
	Object string `json:"object"` // what gave it away
	Active Answer `json:"active,omitempty"`
	Detail string `json:"detail,omitempty"`
}
