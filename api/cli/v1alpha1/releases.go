package v1alpha1

import "time"

// Releases is the result of `refit release list`.
type Releases struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Cluster    string          `json:"cluster"`
	Releases   []ListedRelease `json:"releases"`
}

// ListedRelease is a ClusterRelease of a cluster. Hosts verify its signature; the list does not.
type ListedRelease struct {
	Name       string `json:"name"`
	Kubernetes string `json:"kubernetes"`
	Digest     string `json:"digest,omitempty"`
	// KeyID is the key that the envelope names as the one that signed it.
	KeyID      string            `json:"keyID,omitempty"`
	Components []ListedComponent `json:"components,omitempty"`
	CreateTime time.Time         `json:"createTime"`
	// Operations are the operations in progress that follow it, and VerifiedHosts and RejectedHosts
	// count the agents with an order that names it.
	Operations    []string `json:"operations,omitempty"`
	VerifiedHosts int      `json:"verifiedHosts"`
	RejectedHosts int      `json:"rejectedHosts"`
	// Problem is why its content cannot be read, if it cannot.
	Problem string `json:"problem,omitempty"`
}

// ListedComponent is a component of a ClusterRelease.
type ListedComponent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
