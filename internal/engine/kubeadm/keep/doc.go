// Package keep moves settings of running static pods to the ClusterConfiguration of kubeadm in the
// cluster:
//
//  1. Observe requests a report of the node, and reads the static pods of all control plane nodes
//     and the ConfigMap kubeadm-config.
//  2. Edit returns the changed ClusterConfiguration. It keeps fields that it does not know, their
//     order and comments.
//  3. Write writes it, unless it was changed since.
//  4. Lost requests another report of every control plane node: what an upgrade would remove now.
package keep
