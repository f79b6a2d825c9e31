// Package rehearsal restores a backup of etcd beside the live cluster, and runs the target version
// on it:
//
//  1. Clean: stop units, unmount images and remove files that a killed process left.
//  2. Restore: mount the image of etcd, restore the backup into the scratch directory.
//  3. Drill: start etcd, compare revision, keys and hashes with the record of the backup.
//  4. Rehearse, for each hop: start the hop's etcd and kube-apiserver on that data, wait until it
//     is ready, list everything.
//  5. Clean again, at every exit.
//
// All processes are sandboxes without a network (internal/upgrade/sandbox). Package
// internal/upgrade/rehearsal decides on commands, mounts and memory, and what a failure means.
package rehearsal
