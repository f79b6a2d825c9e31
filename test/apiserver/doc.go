// Package apiserver provides a real kube-apiserver with an etcd of its own to Go tests. The
// testbed's builder provides the binaries; the first run of a version builds them, which takes
// minutes. The package needs no root, and does not depend on the product.
//
// There is no controller manager, scheduler or kubelet: nothing creates service accounts, collects
// garbage, deletes the contents of a deleted namespace or runs a Pod. The admission plugin
// ServiceAccount is therefore off: with it, no Pod could be created.
//
// Tests that start a server have the build tag apiserver.
package apiserver
