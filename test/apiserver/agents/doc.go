// Package agents plays the hosts of a cluster on an API server that has none: for every Node an agent, which answers questions and carries out orders, and a
// kubelet, which ends pods. It thinks with the product's own upgrade/node, from a journal in memory, and writes what a real agent writes; only its hands are
// made up. One watch of each kind serves all nodes, so five thousand of them are as easy as five.
//
//	err := agents.Load(ctx, config, clustertest.HA("v1.35.4", 3, 4), "v1.36.3")
//	hosts, err := agents.New(config, agents.Options{})
//	go hosts.Run(ctx)
//	err = hosts.Reported(ctx)
//
// Whoever asks the API servers of the control plane nodes at their own addresses needs the configuration that Trusting gives.
package agents
