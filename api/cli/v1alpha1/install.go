package v1alpha1

// The kinds of the documents about Refit itself.
const (
	KindInstall   = "Install"
	KindUninstall = "Uninstall"
)

// Install is the result of `refit install`.
type Install struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Version    string `json:"version"`
	Former     string `json:"former,omitempty"` // the version that was installed before
	DryRun     bool   `json:"dryRun,omitempty"` // nothing was changed
	Standalone bool   `json:"standalone,omitempty"`

	AgentImage      string   `json:"agentImage"`
	ControllerImage string   `json:"controllerImage,omitempty"`
	ComponentsImage string   `json:"componentsImage,omitempty"` // empty: refit-components is not installed
	Keys            []string `json:"keys"`                      // fingerprints of the release keys

	// NewKey is the key pair that was created because the user named none.
	NewKey *ReleaseKey `json:"newKey,omitempty"`
	// Backups is how backups of etcd are set up; nil if they are not.
	Backups *InstallBackups `json:"backups,omitempty"`

	Objects []Object `json:"objects"`
	// Nodes, Controller and Components are absent after a dry run.
	Nodes      []HostState      `json:"nodes,omitempty"`
	Controller *ControllerState `json:"controller,omitempty"`
	Components *ControllerState `json:"components,omitempty"` // refit-components
	// Complete is true if everything runs. The exit code is 4 if not.
	Complete bool `json:"complete"`
}

// InstallBackups is how backups of etcd are set up.
type InstallBackups struct {
	Store      string   `json:"store"`     // the name of the BackupStore
	Directory  string   `json:"directory"` // on control plane hosts
	Recipients []string `json:"recipients"`
	// Identity is the file with the identity that decrypts backups; empty if it is elsewhere.
	Identity string `json:"identity,omitempty"`
	// Created is true if this install created the identity.
	Created bool `json:"created,omitempty"`
}

// Object is the change to one object of the cluster.
type Object struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Action    string   `json:"action"`           // one of the Action constants
	Fields    []string `json:"fields,omitempty"` // changed fields
	// Unchecked is true if the server did not validate the object, because its namespace does not
	// exist yet.
	Unchecked bool `json:"unchecked,omitempty"`
}

// The actions on an object.
const (
	ActionCreated   = "Created"
	ActionChanged   = "Changed"
	ActionUnchanged = "Unchanged"
	ActionRemoved   = "Removed"
	ActionLeft      = "Left" // it is not Refit's
)

// HostState is the progress on a node's host.
type HostState struct {
	Node  string `json:"node"`
	State string `json:"state"` // one of the Host constants
	Why   string `json:"why,omitempty"`
}

// The states of a host, and of a pod.
const (
	HostWaiting     = "Waiting"
	HostPulling     = "Pulling"
	HostWorking     = "Working"
	HostDone        = "Done"
	HostFailing     = "Failing"
	HostUnreachable = "Unreachable"
)

// ControllerState is the progress of the Deployment of the controller, or of refit-components.
type ControllerState struct {
	Wanted    int        `json:"wanted"`
	Available int        `json:"available"`
	Pods      []PodState `json:"pods,omitempty"`
}

// PodState is the progress of one pod of a Deployment.
type PodState struct {
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// Uninstall is the result of `refit uninstall`.
type Uninstall struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Version    string `json:"version,omitempty"`
	Installed  bool   `json:"installed"` // before anything was removed
	// Done is false if nothing was removed; the rest is then what would be.
	Done    bool     `json:"done"`
	Objects []Object `json:"objects"`
	// Content is the number of custom resources that are removed, by resource.
	Content  map[string]int `json:"content,omitempty"`
	Cordoned []string       `json:"cordoned,omitempty"`
	Nodes    []HostState    `json:"nodes,omitempty"`
}
