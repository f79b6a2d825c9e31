// Package configpatch merges what a ClusterRelease sets in kubeadm's ClusterConfiguration into that
// of a cluster, so that manual changes survive:
//
//  1. Read returns the fields of a ClusterConfiguration.
//  2. Merge compares three values of each field: that in the cluster, that of the last patch, and
//     that of the new patch. It returns the changes, and the fields that were edited by hand.
//  3. Write applies the changes to a ClusterConfiguration.
package configpatch
