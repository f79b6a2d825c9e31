// Package cluster makes, breaks and removes real kubeadm clusters whose nodes
// are systemd-nspawn containers with a systemd of their own, behind a real
// HAProxy, on one Linux machine.
//
// A cluster comes up in this order: claim a name and an address range, bridge,
// load balancer, nodes, kubeadm init, kubeadm join, ready. It is recorded on disk
// before anything of it exists, and everything of it carries its name or number,
// so what a killed run left can be found and removed (prune).
package cluster
