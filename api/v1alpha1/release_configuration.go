package v1alpha1

// ClusterConfigurationPatch is what a ClusterRelease sets in kubeadm's ClusterConfiguration. Its
// fields are all that a ClusterRelease can set; they have the names and types of v1beta4. It needs
// payload version 3.
//
// +kubebuilder:object:generate=false
type ClusterConfigurationPatch struct {
	APIServer         *ControlPlaneComponentPatch `json:"apiServer,omitempty"`
	ControllerManager *ControlPlaneComponentPatch `json:"controllerManager,omitempty"`
	Scheduler         *ControlPlaneComponentPatch `json:"scheduler,omitempty"`
	Etcd              *EtcdPatch                  `json:"etcd,omitempty"`
	// FeatureGates are feature gates of kubeadm, by name.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// EtcdPatch is what a ClusterRelease sets for etcd. External etcd ignores it.
//
// +kubebuilder:object:generate=false
type EtcdPatch struct {
	Local *ControlPlaneComponentPatch `json:"local,omitempty"`
}

// ControlPlaneComponentPatch is what a ClusterRelease sets for a component that runs as a static
// pod.
//
// +kubebuilder:object:generate=false
type ControlPlaneComponentPatch struct {
	// ExtraArgs are merged by name. A name can occur several times.
	ExtraArgs []ReleaseArgument `json:"extraArgs,omitempty"`
}

// ReleaseArgument is an argument of a component.
//
// +kubebuilder:object:generate=false
type ReleaseArgument struct {
	// Name is the name without leading dashes.
	Name  string `json:"name"`
	Value string `json:"value"`
}
