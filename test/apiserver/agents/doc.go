// Package agents simulates the hosts of a cluster on an API server that has none: for every Node an
// agent, which answers report requests and executes orders, and a kubelet, which terminates pods.
// It decides with the product's own upgrade/node, from a journal in memory, and writes what a real
// agent writes; only the changes to the host are simulated. One watch of each resource serves all
// nodes, so it scales to five thousand of them.
//
//	err := agents.Load(ctx, config, clustertest.HA("v1.35.4", 3, 4), "v1.36.3")
//	hosts, err := agents.New(config, agents.Options{})
//	go hosts.Run(ctx)
//	err = hosts.Reported(ctx)
//
// Clients that connect to the API servers of the control plane nodes at their own addresses need
// the configuration that Trusting returns.
package agents
