// Package scale reads and plans a cluster of thousands of nodes on a real API server, and prints
// its performance. Loading the cluster takes a while, so the tests run only with REFIT_SCALE=1
// (make test-scale).
package scale
