package output

import "github.com/refit-dev/refit/internal/engine/install"

// The kinds of the answers about Refit itself.
const (
	KindInstall   = "Install"
	KindUninstall = "Uninstall"
)

// Install is the answer of `refit install`.
type Install struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Version    string `json:"version"`
	Former     string `json:"former,omitempty"` // the version that was there before
	DryRun     bool   `json:"dryRun,omitempty"` // nothing was changed: this is what would be
	Standalone bool   `json:"standalone,omitempty"`

	AgentImage      string   `json:"agentImage"`
	ControllerImage string   `json:"controllerImage,omitempty"`
	Keys            []string `json:"keys"` // fingerprints of the release keys

	Objects []Object `json:"objects"`
	// Nodes and Controller are absent in a dry run.
	Nodes      []HostState      `json:"nodes,omitempty"`
	Controller *ControllerState `json:"controller,omitempty"`
	// Complete says whether everything runs: the exit code is 4 if not.
	Complete bool `json:"complete"`
}

// Object is what became of an object in the cluster.
type Object struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	Action    string   `json:"action"`              // Created, Changed, Unchanged, Removed, Left
	Fields    []string `json:"fields,omitempty"`    // of one that changes
	Unchecked bool     `json:"unchecked,omitempty"` // its namespace is not there yet, so no server looked at it
}

// HostState is how far a node's host is.
type HostState struct {
	Node  string `json:"node"`
	State string `json:"state"` // Waiting, Pulling, Working, Done, Failing, Away
	Why   string `json:"why,omitempty"`
}

// ControllerState is how far the controller is.
type ControllerState struct {
	Wanted    int        `json:"wanted"`
	Available int        `json:"available"`
	Pods      []PodState `json:"pods,omitempty"`
}

// PodState is how far one pod of the controller is.
type PodState struct {
	Pod   string `json:"pod"`
	Node  string `json:"node,omitempty"`
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// Uninstall is the answer of `refit uninstall`.
type Uninstall struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Version    string `json:"version,omitempty"`
	Installed  bool   `json:"installed"` // when it was looked at first
	// Done is false where nothing was done yet: then this is what would be.
	Done     bool           `json:"done"`
	Objects  []Object       `json:"objects"`
	Content  map[string]int `json:"content,omitempty"` // how many objects of Refit's kinds go with them
	Cordoned []string       `json:"cordoned,omitempty"`
	Nodes    []HostState    `json:"nodes,omitempty"`
}

// NewObjects lists what became of objects.
func NewObjects(changes []install.Change) []Object {
	out := []Object{}
	for _, c := range changes {
		kind := c.Kind
		if kind == "" {
			kind = c.Resource
		}
		out = append(out, Object{Kind: kind, Namespace: c.Namespace, Name: c.Name, Action: string(c.Action), Fields: c.Fields, Unchecked: c.Unchecked})
	}
	return out
}

// NewHostStates lists how far nodes are.
func NewHostStates(nodes []install.NodeProgress) []HostState {
	out := make([]HostState, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, HostState{Node: n.Node, State: string(n.State), Why: n.Why})
	}
	return out
}

// NewControllerState is how far the controller is, nil where none is installed.
func NewControllerState(p *install.ControllerProgress) *ControllerState {
	if p == nil {
		return nil
	}
	out := &ControllerState{Wanted: p.Wanted, Available: p.Available}
	for _, pod := range p.Pods {
		out.Pods = append(out.Pods, PodState{Pod: pod.Pod, Node: pod.Node, State: string(pod.State), Why: pod.Why})
	}
	return out
}
