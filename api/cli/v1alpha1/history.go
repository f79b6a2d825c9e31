package v1alpha1

import "time"

// KindHistory is the kind of History.
const KindHistory = "History"

// History is the result of `refit history`.
type History struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	// Operations are all operations, the newest first.
	Operations []PastOperation `json:"operations"`
}

// PastOperation is an operation that ended or is in progress.
type PastOperation struct {
	Name           string     `json:"name"`
	Phase          string     `json:"phase"`
	Ended          bool       `json:"ended"`
	From           string     `json:"from,omitempty"`
	To             string     `json:"to"`
	Scope          string     `json:"scope"`
	StartTime      time.Time  `json:"startTime"`
	CompletionTime time.Time  `json:"completionTime,omitzero"`
	Nodes          NodeCounts `json:"nodes"`
	// ComponentsOnly is true if the plan changes components and no node.
	ComponentsOnly bool            `json:"componentsOnly,omitempty"`
	Components     ComponentCounts `json:"components,omitzero"`
	// Failed are the nodes and components that failed and did not recover.
	Failed  []string `json:"failed,omitempty"`
	Message string   `json:"message,omitempty"` // of an operation in progress
}
