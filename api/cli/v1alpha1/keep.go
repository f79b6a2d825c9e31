package v1alpha1

// KindKeep is the kind of the result of `refit keep`.
const KindKeep = "Keep"

// Keep is the result of `refit keep`: the settings of a node's static pods that become a part of
// kubeadm's configuration.
type Keep struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Node       string `json:"node"`
	Changed    bool   `json:"changed"` // false: nothing had to be changed, or nothing could be kept
	// Kept are the settings that the ClusterConfiguration of kubeadm has now, such as
	// "kube-apiserver --audit-policy-file".
	Kept []string `json:"kept,omitempty"`
	// Diff is the change of the ClusterConfiguration as a unified diff, without secret values.
	Diff    string    `json:"diff,omitempty"`
	NotKept []NotKept `json:"notKept,omitempty"`
	// Unverified are the control plane nodes that did not confirm the change after it was written.
	Unverified []Unverified `json:"unverified,omitempty"`
}

// Unverified is a node that did not confirm that kubeadm renders the settings.
type Unverified struct {
	Node   string `json:"node"`
	Reason string `json:"reason"`
	Remedy string `json:"remedy"`
}

// NotKept is a component whose settings cannot be a part of the ClusterConfiguration.
type NotKept struct {
	Component string   `json:"component"`
	Settings  []string `json:"settings"`
	Reasons   []string `json:"reasons"`
	// Patch is a kubeadm patch that keeps the settings on this host; nil if there is none.
	Patch *PatchFile `json:"patch,omitempty"`
}

// PatchFile is a file in the directory of kubeadm patches on a host.
type PatchFile struct {
	Name    string `json:"name"`
	Content string `json:"content"`
}
