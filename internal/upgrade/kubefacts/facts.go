package kubefacts

// The components whose flags and feature gates are known, by the names of their binaries.
const (
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kubelet               = "kubelet"
	KubeProxy             = "kube-proxy"
)

// Components lists all components, in the order of an upgrade.
func Components() []string {
	return []string{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubelet, KubeProxy}
}

// Facts are the facts about one Kubernetes release. They are shared and must not be changed.
type Facts struct {
	// Version is the release: v1.36.3. Flags, gates and APIs usually stay the same within a minor
	// version; the versions of etcd, CoreDNS and pause may not.
	Version string `json:"version"`

	Etcd            string `json:"etcd"`            // image tag that kubeadm uses: 3.6.8-0
	MinExternalEtcd string `json:"minExternalEtcd"` // oldest that kubeadm accepts: 3.5.24-0
	CoreDNS         string `json:"coreDNS"`         // image tag: v1.14.2
	Pause           string `json:"pause"`           // image tag: 3.10.2

	Kubeadm Kubeadm `json:"kubeadm"`

	Flags            []Flag            `json:"flags"`            // of each component
	Gates            []Gate            `json:"gates"`            // without those of kubeadm
	AdmissionPlugins []AdmissionPlugin `json:"admissionPlugins"` // in their order
	Controllers      []Controller      `json:"controllers"`      // of kube-controller-manager

	// The fields that a configuration file may have, as in Fields.
	KubeletConfig   Fields `json:"kubeletConfig"`   // kubelet.config.k8s.io/v1beta1
	KubeProxyConfig Fields `json:"kubeProxyConfig"` // kubeproxy.config.k8s.io/v1alpha1

	// RuntimeConfig are the groups and versions that kube-apiserver's
	// --runtime-config may name, as in "batch/v1". Not all of them are served.
	RuntimeConfig []string `json:"runtimeConfig"`
	// APIs are the kinds that can be served, and those of former releases that the source of a
	// supported minor version up to this one still contains.
	APIs []API `json:"apis"`
}

// Flag is a flag of one component.
type Flag struct {
	Component  string `json:"component"`
	Name       string `json:"name"`                 // without leading dashes
	Deprecated string `json:"deprecated,omitempty"` // the component's warning
	Hidden     bool   `json:"hidden,omitempty"`     // accepted, but not in --help
}

// Stage is the maturity of a feature.
type Stage string

// The stages of a feature gate.
const (
	Alpha      Stage = "ALPHA"
	Beta       Stage = "BETA"
	GA         Stage = "GA"
	Deprecated Stage = "DEPRECATED"
)

// Gate is a feature gate of some components.
type Gate struct {
	Name    string `json:"name"`
	Stage   Stage  `json:"stage"`
	Default bool   `json:"default"`
	// Locked gates accept only their default. They are removed soon.
	Locked bool `json:"locked,omitempty"`
	// Components that have the gate; empty means all of Components.
	Components []string `json:"components,omitempty"`
	// Requires are the gates that this one depends on: with one of them disabled, a component does
	// not start.
	Requires []string `json:"requires,omitempty"`
	// Deprecated is kubeadm's warning; components have none.
	Deprecated string `json:"deprecated,omitempty"`
}

// AdmissionPlugin is a name for kube-apiserver's --enable-admission-plugins.
type AdmissionPlugin struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty"` // enabled by default
}

// Controller is a name for kube-controller-manager's --controllers.
type Controller struct {
	Name    string   `json:"name"`
	Default bool     `json:"default,omitempty"` // enabled by default
	Aliases []string `json:"aliases,omitempty"` // former names, still accepted
}

// Kubeadm is what kubeadm of a release accepts and does.
type Kubeadm struct {
	ConfigVersions []ConfigVersion `json:"configVersions"` // of kubeadm.k8s.io, oldest first
	Gates          []Gate          `json:"gates"`          // ClusterConfiguration's featureGates
	UpgradeApply   []Phase         `json:"upgradeApply"`   // in their order
	UpgradeNode    []Phase         `json:"upgradeNode"`    // in their order
}

// ConfigVersion is an API version in which kubeadm accepts a ClusterConfiguration.
type ConfigVersion struct {
	Version    string `json:"version"`              // v1beta4
	Deprecated bool   `json:"deprecated,omitempty"` // accepted with a warning
	Written    bool   `json:"written,omitempty"`    // the one that kubeadm stores in the cluster
}

// Phase is a phase of a kubeadm command by its name for --skip-phases: "addon", "addon/coredns".
type Phase struct {
	Name   string `json:"name"`
	Hidden bool   `json:"hidden,omitempty"` // not in --help
}

// API is a kind that a Kubernetes API server serves, or once served. Its releases are minor
// versions such as 1.25, empty if the source does not contain them.
type API struct {
	Group      string `json:"group"` // empty for the core group
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource,omitempty"`   // plural, as in URLs; empty if unknown
	Namespaced bool   `json:"namespaced,omitempty"` // false also if unknown

	Served  bool `json:"served,omitempty"`  // an alpha or beta API may need its feature gate
	Default bool `json:"default,omitempty"` // its version needs no --runtime-config

	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`     // may be planned for a later release
	Replacement string `json:"replacement,omitempty"` // "policy/v1 PodDisruptionBudget"
}
