// Package thousands upgrades a cluster of made-up hosts with the real controller, a process of its own, on a real API server and etcd, and prints what that
// costs: how soon a slot is used again, requests and bytes of each node, memory and processor time of the controller. A hundred nodes are part of every run;
// as many as REFIT_NODES says take longer (make e2e-upgrade-5000).
package thousands
