package cluster

import (
	"net/netip"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Node is one node of a cluster: a container with a systemd, a network and a disk of its own.
type Node struct {
	c *Cluster
	m member
}

// Name of the node, of its host and in Kubernetes.
func (n *Node) Name() string { return n.m.Name }

// Role is RoleControlPlane or RoleWorker.
func (n *Node) Role() string { return n.m.Role }

// Zone is the node's zone, or empty.
func (n *Node) Zone() string { return n.m.Zone }

// Address of the node on the cluster's bridge.
func (n *Node) Address() netip.Addr { return n.c.s.nodeAddress(n.m.Number) }

func (n *Node) dir() string  { return filepath.Join(n.c.dir(), "nodes", n.Name()) }
func (n *Node) root() string { return filepath.Join(n.dir(), "root") }
func (n *Node) disk() string { return filepath.Join(n.dir(), "disk.ext4") }

// plain are directories that may not lie on an overlay: containerd mounts
// overlays of its own there, etcd wants a real fsync.
var plain = []string{"/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet"}

func (n *Node) plainDir(path string) string { return filepath.Join(n.dir(), filepath.Base(path)) }

func (n *Node) hasDisk() bool { return n.c.s.Disk > 0 }

func (n *Node) cgroup() (machine.Cgroup, error) { return n.c.cgroup(n.Name()) }

func (n *Node) cable() string { return n.c.s.cable(n.m.Number) }

// State tells in one word how the node is.
func (n *Node) State() string {
	group, err := n.cgroup()
	if err != nil {
		return "unknown"
	}
	switch _, err := group.Init(); {
	case err != nil:
		return "off"
	case group.Frozen():
		return "frozen"
	case !machine.LinkUp(n.cable()):
		return "partitioned"
	}
	return "running"
}
