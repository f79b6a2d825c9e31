// Package apiserver gives Go tests a real kube-apiserver with an etcd of its
// own. The programs are those that the testbed's builder makes; the first run
// of a version builds them, which takes minutes. It needs no root, and knows
// nothing of the product.
//
// There is no controller manager, scheduler or kubelet: nothing makes service
// accounts, deletes what is owned, empties a deleted namespace or runs a Pod.
// Therefore the admission plugin ServiceAccount is off, or no Pod could be made.
//
// Tests that start a server have the build tag apiserver.
package apiserver
