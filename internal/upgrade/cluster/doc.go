// Package cluster defines the Snapshot: the observed state of a cluster at one moment, as plain
// structs. internal/engine/observe reads it from a live cluster, Decode from a file.
//
// A Snapshot contains no guesses: what could not be read is Unknown, and a Gap has the reason. It
// never contains a secret.
package cluster
