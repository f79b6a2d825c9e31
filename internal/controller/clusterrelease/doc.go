// Package clusterrelease reports on each ClusterRelease how many hosts have verified it, and why a
// host rejects it.
package clusterrelease
