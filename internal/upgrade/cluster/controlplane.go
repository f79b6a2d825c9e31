package cluster

import refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"

// APIServer is one API server, asked at its own address or through its pod, never through the load balancer.
type APIServer struct {
	Node    string   `json:"node"`
	Address string   `json:"address,omitempty"`
	Via     string   `json:"via,omitempty"` // ViaAddress, ViaPodProxy or ViaEndpoint; empty: it could not be asked
	Version string   `json:"version,omitempty"`
	Ready   Answer   `json:"ready,omitempty"`
	Failing []string `json:"failing,omitempty"` // the checks of readyz that fail
	// Deprecated are requests for APIs that a release removes, since this server started. DeprecatedKnown says whether it could be asked.
	Deprecated      []DeprecatedRequest `json:"deprecated,omitempty"`
	DeprecatedKnown Answer              `json:"deprecatedKnown,omitempty"`
	Error           string              `json:"error,omitempty"`
}

// How something was learned.
const (
	ViaAddress     = "address"        // of the API server itself
	ViaPodProxy    = "pod proxy"      // of another API server, on the way to this one
	ViaEndpoint    = "endpoint"       // of the cluster, behind which there is only one API server
	ViaInterface   = "interface"      // a node reports the endpoint's address on one
	ViaNodeAddress = "node address"   // the endpoint's address is a node's own
	ViaKubeVIP     = "kube-vip lease" // names the node
)

// DeprecatedRequest is that somebody asked for an API that a release removes.
type DeprecatedRequest struct {
	Group          string `json:"group,omitempty"`
	Version        string `json:"version"`
	Resource       string `json:"resource"`
	Subresource    string `json:"subresource,omitempty"`
	RemovedRelease string `json:"removedRelease"` // 1.37
}

// Kubeadm is what kubeadm wrote into the cluster about how it is made.
type Kubeadm struct {
	APIVersion        string          `json:"apiVersion,omitempty"` // kubeadm.k8s.io/v1beta4
	KubernetesVersion string          `json:"kubernetesVersion,omitempty"`
	ClusterName       string          `json:"clusterName,omitempty"`
	Endpoint          string          `json:"endpoint,omitempty"` // controlPlaneEndpoint
	ImageRepository   string          `json:"imageRepository,omitempty"`
	ExternalEtcd      bool            `json:"externalEtcd,omitempty"`
	EtcdImageTag      string          `json:"etcdImageTag,omitempty"` // of etcd.local: kubeadm keeps to it, whatever the release brings
	DNSImageTag       string          `json:"dnsImageTag,omitempty"`  // of dns, likewise
	FeatureGates      map[string]bool `json:"featureGates,omitempty"` // kubeadm's own
	// ExtraArgs are the arguments by component (kube-apiserver, kube-controller-manager, kube-scheduler, etcd), by flag.
	// Values are kept only for flags that decisions read: a value may be a secret.
	ExtraArgs map[string]map[string]string `json:"extraArgs,omitempty"`
	// Kubelet is the cluster's kubelet configuration (ConfigMap kubelet-config).
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
	// ProxyMode is kube-proxy's mode; empty when there is no kube-proxy. ProxyGates are its feature gates.
	ProxyMode  string          `json:"proxyMode,omitempty"`
	ProxyGates map[string]bool `json:"proxyGates,omitempty"`
	HasProxy   bool            `json:"hasProxy,omitempty"`
	// HasDNS says whether kubeadm's CoreDNS is there, CorefilePlugins which plugins its Corefile uses, without their arguments.
	HasDNS          bool     `json:"hasDNS,omitempty"`
	DNSVersion      string   `json:"dnsVersion,omitempty"`
	CorefilePlugins []string `json:"corefilePlugins,omitempty"`
}

// KubeletConfig is a KubeletConfiguration as far as decisions need it.
type KubeletConfig struct {
	Fields       []string        `json:"fields,omitempty"` // JSON paths that are set
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	FailCgroupV1 *bool           `json:"failCgroupV1,omitempty"`
}

// Endpoint is where clients reach the API, and who holds its address.
type Endpoint struct {
	Address string `json:"address,omitempty"` // host:port
	// Holder is the node that holds the address, Via how that is known: ViaInterface, ViaKubeVIP or ViaNodeAddress. Empty: nobody of the cluster, or unknown.
	Holder string `json:"holder,omitempty"`
	Via    string `json:"via,omitempty"`
}

// Release is a ClusterRelease as far as decisions need it.
type Release struct {
	Name    string                       `json:"name"`
	Digest  string                       `json:"digest,omitempty"`
	Payload refitv1alpha1.ReleasePayload `json:"payload"`
	Error   string                       `json:"error,omitempty"` // why it cannot be used
}
