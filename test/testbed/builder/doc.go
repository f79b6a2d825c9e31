// Package builder makes what a testbed cluster is built from, out of public sources, into a cache.
//
//  1. Programs: Kubernetes, etcd, CoreDNS, containerd and the CNI plugins from the Go module proxy, pause with gcc.
//  2. A Debian root for the nodes, with debootstrap.
//  3. Container images as archives, and real .deb packages in one apt repository.
//  4. Node images: a whole root directory, and a containerd store that holds the container images already.
//
// Each of these is a recipe; a recipe's result is an entry of the cache, named by
// everything that shaped it. An entry that exists is whole, so a build that was
// interrupted is continued by calling again.
package builder
