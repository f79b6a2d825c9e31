// Package kubefacts contains what each supported minor version of Kubernetes accepts: the flags,
// feature gates and configuration fields of its components, the APIs that it serves, the phases of
// its kubeadm and the versions that kubeadm installs.
//
// The data is generated: `make kube-facts` compiles small binaries against the source of each
// release and writes their output to data/. The difference between two minor versions is what an
// upgrade can break.
//
// A minor version that is not supported has no facts. For reports it, and a check that needs them
// must report "unknown" instead of passing.
package kubefacts
