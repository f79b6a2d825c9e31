// Package cluster is what was seen of a cluster at one moment, as plain structs: the Snapshot. It is gathered once by
// engine/observe, or read from a file, and then only thought about.
//
// Nothing in it is guessed. What could not be read is Unknown, and a Gap says why. No secret is ever in it.
package cluster
