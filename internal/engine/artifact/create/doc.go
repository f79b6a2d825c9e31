// Package create makes the payload of a ClusterRelease: from folders with programs, packages and image archives, from what upstream publishes, or from both.
//
// It looks at what is there, chooses what belongs to the wanted version, takes what is missing from upstream if that is wanted, and refuses a ClusterRelease that a
// kubeadm host could not be upgraded with.
//
// What is asked of upstream is tested with a server that answers as upstream's servers are documented to, not with those themselves.
package create
