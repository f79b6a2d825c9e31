// Package clustertest makes up Snapshots for tests: small healthy clusters that a test then changes where its situation differs, and large ones
// to measure with. The same call always makes the same Snapshot.
package clustertest
