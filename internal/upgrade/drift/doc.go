// Package drift decides how the settings that only the static pods of a node have become a part of
// kubeadm's configuration, so that an upgrade renders them again:
//
//  1. Settings that all control plane nodes have in common go to the ClusterConfiguration.
//  2. The rest is refused with its reason, and with a kubeadm patch for the host where one works.
package drift
