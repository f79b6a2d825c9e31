package cluster

import (
	"net/netip"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

// APIServer is one API server, probed at its own address or through its pod, never through the load
// balancer.
type APIServer struct {
	Node    string   `json:"node"`
	Address string   `json:"address,omitempty"`
	Via     string   `json:"via,omitempty"` // how it was reached, empty if it was not
	Version string   `json:"version,omitempty"`
	Ready   Answer   `json:"ready,omitempty"`
	Failing []string `json:"failing,omitempty"` // the checks of readyz that fail
	// Deprecated are requests for deprecated APIs since this server started. DeprecatedKnown is
	// whether its metrics could be read.
	Deprecated      []DeprecatedRequest `json:"deprecated,omitempty"`
	DeprecatedKnown Answer              `json:"deprecatedKnown,omitempty"`
	// ClockAhead is how far its clock is ahead of that of the machine that read it; nil if unknown.
	ClockAhead *time.Duration `json:"clockAhead,omitempty"`
	Error      string         `json:"error,omitempty"`
}

// How a fact was read.
const (
	ViaAddress     = "address"        // of the API server itself
	ViaPodProxy    = "pod proxy"      // of another API server
	ViaEndpoint    = "endpoint"       // of the cluster, which has only one API server
	ViaInterface   = "interface"      // a node reports the endpoint's address on it
	ViaNodeAddress = "node address"   // the endpoint's address is a node's own
	ViaKubeVIP     = "kube-vip lease" // it names the node
)

// DeprecatedRequest is a request for an API that a release removes.
type DeprecatedRequest struct {
	Group          string `json:"group,omitempty"`
	Version        string `json:"version"`
	Resource       string `json:"resource"`
	Subresource    string `json:"subresource,omitempty"`
	RemovedRelease string `json:"removedRelease"` // 1.37
}

// Kubeadm is kubeadm's configuration in the cluster.
type Kubeadm struct {
	APIVersion        string          `json:"apiVersion,omitempty"` // kubeadm.k8s.io/v1beta4
	KubernetesVersion string          `json:"kubernetesVersion,omitempty"`
	ClusterName       string          `json:"clusterName,omitempty"`
	Endpoint          string          `json:"endpoint,omitempty"` // controlPlaneEndpoint
	ImageRepository   string          `json:"imageRepository,omitempty"`
	ExternalEtcd      bool            `json:"externalEtcd,omitempty"`
	EtcdImageTag      string          `json:"etcdImageTag,omitempty"` // etcd.local.imageTag
	DNSImageTag       string          `json:"dnsImageTag,omitempty"`  // dns.imageTag, likewise
	FeatureGates      map[string]bool `json:"featureGates,omitempty"` // kubeadm's own
	// ExtraArgs are the arguments of each component (kube-apiserver, kube-controller-manager,
	// kube-scheduler, etcd) by flag. Only flags that decisions need have values: a value may be a
	// secret.
	ExtraArgs map[string]map[string]string `json:"extraArgs,omitempty"`
	// Configured are the fields of the ClusterConfiguration that a ClusterRelease sets, and Patched
	// what the last one has set. Only values that a ClusterRelease has are in it.
	Configured configpatch.Values `json:"configured,omitempty"`
	Patched    configpatch.Values `json:"patched,omitempty"`
	// Kubelet is the cluster's kubelet configuration (ConfigMap kubelet-config).
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
	// ProxyMode is kube-proxy's mode, empty without kube-proxy. ProxyGates are its feature gates.
	ProxyMode  string          `json:"proxyMode,omitempty"`
	ProxyGates map[string]bool `json:"proxyGates,omitempty"`
	HasProxy   bool            `json:"hasProxy,omitempty"`
	// HasDNS is whether kubeadm's CoreDNS exists. CorefilePlugins are the plugins of its Corefile,
	// without their arguments.
	HasDNS          bool     `json:"hasDNS,omitempty"`
	DNSVersion      string   `json:"dnsVersion,omitempty"`
	CorefilePlugins []string `json:"corefilePlugins,omitempty"`
}

// KubeletConfig is the part of a KubeletConfiguration that decisions need.
type KubeletConfig struct {
	Fields       []string        `json:"fields,omitempty"` // JSON paths that are set
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	FailCgroupV1 *bool           `json:"failCgroupV1,omitempty"`
}

// Endpoint is where clients reach the API, and which node holds its address.
type Endpoint struct {
	Address string `json:"address,omitempty"` // host:port
	// IPs are the addresses of its host, empty if they are unknown.
	IPs []netip.Addr `json:"ips,omitempty"`
	// Holder is the node that holds the address, empty if none does or it is unknown. Via is how it
	// was read: ViaInterface, ViaKubeVIP or ViaNodeAddress.
	Holder string `json:"holder,omitempty"`
	Via    string `json:"via,omitempty"`
}

// Release is the part of a ClusterRelease that decisions need.
type Release struct {
	Name    string                       `json:"name"`
	Digest  string                       `json:"digest,omitempty"`
	Payload refitv1alpha1.ReleasePayload `json:"payload"`
	// PayloadVersion is the version that the signed envelope declares. It is 0 in older snapshots.
	PayloadVersion int32  `json:"payloadVersion,omitempty"`
	Error          string `json:"error,omitempty"` // why it cannot be used
	// Components are the versions of components that it offers. ComponentsError is why they cannot
	// be used.
	Components      []refitv1alpha1.ReleaseComponent `json:"components,omitempty"`
	ComponentsError string                           `json:"componentsError,omitempty"`
}

// NeededVersion returns the payload version that a host must read: an agent refuses an envelope of
// a newer version, also if its payload would need none.
func (r *Release) NeededVersion() int32 { return max(r.PayloadVersion, r.Payload.Version()) }
