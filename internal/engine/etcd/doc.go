// Package etcd queries the etcd member on this host and the other members with a client of its own:
// which members are healthy, which one leads, whether a new version is healthy. It also holds the
// lock that lets one control plane node at a time stop its member.
package etcd
