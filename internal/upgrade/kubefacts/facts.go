package kubefacts

// The components whose flags and feature gates are known, by the names of their
// programs.
const (
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kubelet               = "kubelet"
	KubeProxy             = "kube-proxy"
)

// Components lists them all, in the order in which an upgrade meets them.
func Components() []string {
	return []string{KubeAPIServer, KubeControllerManager, KubeScheduler, Kubelet, KubeProxy}
}

// Facts is what one Kubernetes release says about itself. It is shared by all who
// ask for it, so nobody may change it.
type Facts struct {
	// Version is the release that was asked: v1.36.3. As a rule flags, gates and APIs stay
	// the same within a minor; the versions of etcd, CoreDNS and pause need not.
	Version string `json:"version"`

	Etcd            string `json:"etcd"`            // image tag that kubeadm wants: 3.6.8-0
	MinExternalEtcd string `json:"minExternalEtcd"` // oldest external etcd that kubeadm accepts: 3.5.24-0
	CoreDNS         string `json:"coreDNS"`         // image tag: v1.14.2
	Pause           string `json:"pause"`           // image tag: 3.10.2

	Kubeadm Kubeadm `json:"kubeadm"`

	Flags            []Flag            `json:"flags"`            // of each component
	Gates            []Gate            `json:"gates"`            // of the components; kubeadm has its own
	AdmissionPlugins []AdmissionPlugin `json:"admissionPlugins"` // in the order in which they run
	Controllers      []Controller      `json:"controllers"`      // of kube-controller-manager

	// The fields that a configuration file may have, as in Fields.
	KubeletConfig   Fields `json:"kubeletConfig"`   // KubeletConfiguration, kubelet.config.k8s.io/v1beta1
	KubeProxyConfig Fields `json:"kubeProxyConfig"` // KubeProxyConfiguration, kubeproxy.config.k8s.io/v1alpha1

	// RuntimeConfig are the groups and versions that kube-apiserver's
	// --runtime-config may name, as in "batch/v1". Not all of them are served.
	RuntimeConfig []string `json:"runtimeConfig"`
	// APIs are the kinds that can be served, and those of former releases that the
	// source of any supported minor up to this one still remembers.
	APIs []API `json:"apis"`
}

// Flag is a flag of one component.
type Flag struct {
	Component  string `json:"component"`
	Name       string `json:"name"`                 // without dashes in front
	Deprecated string `json:"deprecated,omitempty"` // what the component says to those who use it
	Hidden     bool   `json:"hidden,omitempty"`     // accepted, but not in --help
}

// Stage is how far a feature has come.
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
	// Locked gates accept no value but their default. They are about to go.
	Locked bool `json:"locked,omitempty"`
	// Components that know the gate; none named means all of Components.
	Components []string `json:"components,omitempty"`
	// Requires names gates that must be on for this one to be on: a component that
	// finds them off does not start.
	Requires []string `json:"requires,omitempty"`
	// Deprecated is what kubeadm says to those who use it; components say nothing.
	Deprecated string `json:"deprecated,omitempty"`
}

// AdmissionPlugin is a name for kube-apiserver's --enable-admission-plugins.
type AdmissionPlugin struct {
	Name    string `json:"name"`
	Default bool   `json:"default,omitempty"` // on without being asked for
}

// Controller is a name for kube-controller-manager's --controllers.
type Controller struct {
	Name    string   `json:"name"`
	Default bool     `json:"default,omitempty"` // on without being asked for
	Aliases []string `json:"aliases,omitempty"` // former names that are accepted too; kubeadm still writes some
}

// Kubeadm is what kubeadm of a release accepts and does.
type Kubeadm struct {
	ConfigVersions []ConfigVersion `json:"configVersions"` // of kubeadm.k8s.io, oldest first
	Gates          []Gate          `json:"gates"`          // ClusterConfiguration's featureGates
	UpgradeApply   []Phase         `json:"upgradeApply"`   // in the order in which they run
	UpgradeNode    []Phase         `json:"upgradeNode"`    // in the order in which they run
}

// ConfigVersion is an API version in which kubeadm accepts a ClusterConfiguration.
type ConfigVersion struct {
	Version    string `json:"version"`              // v1beta4
	Deprecated bool   `json:"deprecated,omitempty"` // accepted with a warning
	Written    bool   `json:"written,omitempty"`    // the one that kubeadm stores in the cluster
}

// Phase is a phase of a kubeadm command, by the name that --skip-phases takes:
// "addon", then "addon/coredns".
type Phase struct {
	Name   string `json:"name"`
	Hidden bool   `json:"hidden,omitempty"` // not in --help
}

// API is a kind that a Kubernetes API server serves, or once served. Releases are
// minors, such as 1.25; an empty one means that the source does not say.
type API struct {
	Group      string `json:"group"` // empty for the core group
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Resource   string `json:"resource,omitempty"`   // plural, as in URLs; empty where no release tells it
	Namespaced bool   `json:"namespaced,omitempty"` // false also where no release tells it

	Served  bool `json:"served,omitempty"`  // this release can serve it; an alpha or beta may need its feature gate
	Default bool `json:"default,omitempty"` // its version needs no --runtime-config

	Introduced  string `json:"introduced,omitempty"`
	Deprecated  string `json:"deprecated,omitempty"`
	Removed     string `json:"removed,omitempty"`     // may be a plan for a release to come
	Replacement string `json:"replacement,omitempty"` // "policy/v1 PodDisruptionBudget"
}
