// Package connect finds the cluster that the user selects, as kubectl does, and reports whether its
// API server is reachable.
package connect
