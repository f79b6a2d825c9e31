// Package kubefacts knows what each supported Kubernetes minor accepts: the
// flags, feature gates and configuration fields of its components, the APIs that
// it serves, the phases of its kubeadm and the versions that kubeadm installs.
//
// Nothing here was typed by hand. `make kube-facts` compiles small programs
// against the source of each release, and data/ holds what they said; the
// difference between two minors is what an upgrade can trip over.
//
// A minor that is not supported has no facts: For says so, and a check that needs
// them must answer "unknown" rather than "fine".
package kubefacts
