// Package thousands upgrades a cluster of simulated hosts with the real controller, in a separate
// process, on a real API server and etcd, and prints its performance: how soon a slot is used
// again, requests and bytes per node, memory and CPU time of the controller. A hundred nodes are
// part of every run; REFIT_NODES sets a larger number, which takes longer (make e2e-upgrade-5000).
package thousands
