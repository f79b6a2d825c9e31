// Package kubeadm runs the target's kubeadm: its rendering of the static pod manifests and every phase of its upgrade but the one that swaps them, and
// reads what kubeadm left on a host: manifests, certificates, the kubelet's flags.
package kubeadm
