// Package builder builds the artifacts of testbed clusters from public sources into a cache.
//
//  1. Binaries: Kubernetes, etcd, CoreDNS, containerd and the CNI plugins from the Go module
//     proxy, pause with gcc.
//  2. A Debian root file system for the nodes, with debootstrap.
//  3. Container images as archives, deb packages in an apt repository, and rpm packages.
//  4. Node images: a complete root file system, and a containerd store with the container images.
//
// Each of these is a recipe. Its result is an entry of the cache, named after everything that
// determines it. An existing entry is complete, so an interrupted build continues when it is called
// again.
package builder
