// Package scale reads and plans a cluster of thousands of nodes on a real API server, and prints what it costs. Loading it takes a while, so it runs
// only with REFIT_SCALE=1 (make test-scale).
package scale
