// Package progress builds the documents of api/cli/v1alpha1: what a cluster, a plan, an operation
// and a node look like to a user. The CLI prints them and a server returns them.
//
// Every builder is a function of values: a Snapshot, a Plan, findings, a ClusterUpgrade and the
// NodeUpgrades of its nodes. Nothing is read and no clock is asked, so each can be tested without a
// cluster.
package progress
