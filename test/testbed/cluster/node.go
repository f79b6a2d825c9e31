package cluster

import (
	"net/netip"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// Node is a node of a cluster: a container with its own systemd, network and disk.
type Node struct {
	c *Cluster
	m member
}

// Name returns the name of the node, its host and its Kubernetes Node.
func (n *Node) Name() string { return n.m.Name }

// Role returns RoleControlPlane or RoleWorker, or RoleEtcd of a host that is no node.
func (n *Node) Role() string { return n.m.Role }

// Zone returns the zone of the node, or an empty string.
func (n *Node) Zone() string { return n.m.Zone }

// Install returns the installation method of the node.
func (n *Node) Install() string { return n.c.s.Install }

// Address returns the address of the node on the bridge.
func (n *Node) Address() netip.Addr { return n.c.s.nodeAddress(n.m.Number) }

func (n *Node) dir() string  { return filepath.Join(n.c.dir(), "nodes", n.Name()) }
func (n *Node) root() string { return filepath.Join(n.dir(), "root") }
func (n *Node) disk() string { return filepath.Join(n.dir(), "disk.ext4") }

// plain are directories that must not be on an overlay: containerd mounts its own overlays there,
// and etcd needs a real fsync.
var plain = []string{"/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet"}

func (n *Node) plainDir(path string) string { return filepath.Join(n.dir(), filepath.Base(path)) }

func (n *Node) hasDisk() bool { return n.c.s.Disk > 0 }

func (n *Node) cgroup() (machine.Cgroup, error) { return n.c.cgroup(n.Name()) }

func (n *Node) cable() string { return n.c.s.cable(n.m.Number) }

// State returns the state of the node in one word.
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
