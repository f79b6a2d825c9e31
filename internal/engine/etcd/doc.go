// Package etcd asks the etcd member on this host, and the others, with a client of its own: who is well, who leads, whether a new version has proven itself.
// It also keeps the lock that lets only one control plane node at a time touch its member.
package etcd
