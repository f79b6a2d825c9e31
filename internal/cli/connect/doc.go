// Package connect finds the cluster that the user means, as kubectl does, and tells whether its API
// server is reachable.
package connect
