package v1alpha1

import "time"

// NodeRow is the state of a node in an upgrade, in short. Explanation has the details.
type NodeRow struct {
	Node         string `json:"node"`
	ControlPlane bool   `json:"controlPlane"`
	Kubelet      string `json:"kubelet,omitempty"` // its version
	// From is the version before the upgrade of a node that the upgrade has changed. It is empty
	// where nodes had different versions.
	From string `json:"from,omitempty"`
	// RolledBack is true if the upgrade of the node failed, and it is healthy at its old version.
	RolledBack bool `json:"rolledBack,omitempty"`
	Ready      bool `json:"ready"`
	// Cordon is empty, CordonRefit or CordonOther.
	Cordon string `json:"cordon,omitempty"`
	// Agent is the version of the agent, empty if there is none.
	Agent string `json:"agent,omitempty"`
	// State is one of the State constants, and Message the reason for it, in a sentence.
	State   string `json:"state"`
	Message string `json:"message"`
	// Activity is one of the Activity constants, empty for a node that is not in progress.
	Activity  string    `json:"activity,omitempty"`
	Step      string    `json:"step,omitempty"`      // of the agent
	Since     time.Time `json:"since,omitzero"`      // start of the step or the drain
	Remaining int       `json:"remaining,omitempty"` // pods that are still to be evicted
	Blockers  int       `json:"blockers,omitempty"`  // pods that cannot be evicted
}
