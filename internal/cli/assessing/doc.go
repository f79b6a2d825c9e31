// Package assessing assesses the upgrade that the flags and the manifest of a command describe:
//
//  1. request: the ClusterUpgrade from the flags and the manifest
//  2. assess: the cluster is read once, and the upgrade checked and planned
package assessing
