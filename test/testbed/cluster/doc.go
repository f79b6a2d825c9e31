// Package cluster creates, breaks and removes real kubeadm clusters on one Linux machine. Nodes are
// systemd-nspawn containers that boot their own systemd, behind a real HAProxy.
//
// A cluster is created in this order: claim a name and an address range, bridge, load balancer,
// nodes, kubeadm init, kubeadm join, ready. It is recorded on disk first, and everything that
// belongs to it carries its name or number, so prune can find and remove what a killed run left.
package cluster
