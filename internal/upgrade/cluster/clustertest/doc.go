// Package clustertest builds Snapshots for tests: small healthy clusters that a test then changes,
// and large ones for measurements. The same call always returns the same Snapshot.
package clustertest
