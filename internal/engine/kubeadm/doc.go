// Package kubeadm runs the kubeadm of the target version: it renders the static pod manifests and
// runs every phase of an upgrade except the one that swaps them. It also reads what kubeadm wrote
// on a host: manifests, certificates, and the flags of the kubelet.
package kubeadm
