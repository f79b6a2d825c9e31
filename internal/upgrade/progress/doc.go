// Package progress builds the documents of api/cli/v1alpha1: the user's view of a cluster, a plan,
// an operation and a node. The CLI prints them and a server returns them.
//
// Every builder is a function of values: a Snapshot, a Plan, findings, a ClusterUpgrade and the
// NodeUpgrades of its nodes. Builders read nothing and use no clock, so they can be tested without
// a cluster.
package progress
