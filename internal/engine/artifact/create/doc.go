// Package create creates the payload of a ClusterRelease from folders with binaries, packages and
// image archives, from what upstream publishes, or from both.
//
//  1. Inspect the folders.
//  2. Choose the files and images of the requested version.
//  3. Take missing ones from upstream, if that is requested.
//  4. Fail if the result is not sufficient to upgrade a kubeadm host.
//
// The tests use a server that behaves as upstream documents, not the servers of upstream.
package create
