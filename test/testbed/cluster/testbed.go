package cluster

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/machine"
	"github.com/refit-dev/refit/test/testbed/progress"
)

// StateDir is the directory of the clusters of a machine. There is only one per machine: bridges
// and cgroups without a record there count as leftovers.
const StateDir = "/var/lib/refit-testbed"

// Testbed manages the clusters of one machine.
type Testbed struct {
	stateDir string
	builder  *builder.Builder
	report   *progress.Reporter
}

// New returns the testbed with its state in stateDir.
func New(stateDir string, b *builder.Builder, report *progress.Reporter) *Testbed {
	return &Testbed{stateDir: filepath.Clean(stateDir), builder: b, report: report}
}

// Cluster is one cluster of the testbed.
type Cluster struct {
	t *Testbed
	s *state
	// release releases the lock of a borrowed cluster.
	release func()
}

// Cluster returns a cluster by name.
func (t *Testbed) Cluster(name string) (*Cluster, error) {
	s, err := t.load(name)
	if err != nil {
		return nil, err
	}
	return &Cluster{t: t, s: s}, nil
}

// Clusters lists all recorded clusters.
func (t *Testbed) Clusters() ([]*Cluster, error) {
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	var all []*Cluster
	for _, name := range names {
		if c, err := t.Cluster(name); err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// Node returns a node of any cluster by name.
func (t *Testbed) Node(name string) (*Node, error) {
	clusters, err := t.Clusters()
	if err != nil {
		return nil, err
	}
	var known []string
	for _, c := range clusters {
		for _, n := range c.Hosts() {
			if n.Name() == name {
				return n, nil
			}
			known = append(known, n.Name())
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("node %q: %w: there are no clusters", name, ErrNotFound)
	}
	return nil, fmt.Errorf("node %q: %w: existing nodes: %s", name, ErrNotFound, strings.Join(known, ", "))
}

// Name returns the name of the cluster.
func (c *Cluster) Name() string { return c.s.Name }

// Spec returns the spec of the cluster.
func (c *Cluster) Spec() Spec { return c.s.Spec }

// Phase returns the phase of the cluster.
func (c *Cluster) Phase() string { return c.s.Phase }

// RecordRelease records that the cluster was upgraded to another version.
func (c *Cluster) RecordRelease(release builder.Release) error {
	c.s.Kubernetes, c.s.Bin = release.Kubernetes, release.Bin
	return c.t.save(c.s)
}

// Endpoint returns the address of the API endpoint: the load balancer or the virtual IP.
func (c *Cluster) Endpoint() string { return c.s.endpoint() }

// Gateway returns the machine's address on the bridge of the cluster.
func (c *Cluster) Gateway() netip.Addr { return c.s.gateway() }

// PodSubnet returns the addresses of the Pods.
func (c *Cluster) PodSubnet() netip.Prefix { return c.s.podSubnet() }

// ServiceSubnet returns the addresses of the Services.
func (c *Cluster) ServiceSubnet() netip.Prefix { return netip.MustParsePrefix(serviceSubnet) }

// Nodes returns the nodes of the cluster, control plane nodes first.
func (c *Cluster) Nodes() []*Node {
	var nodes []*Node
	for _, m := range c.s.Nodes {
		nodes = append(nodes, &Node{c: c, m: m})
	}
	return nodes
}

// Node returns a node by its full name, or by its name without the cluster's prefix.
func (c *Cluster) Node(name string) (*Node, error) {
	for _, n := range c.Nodes() {
		if n.Name() == name || n.Name() == c.Name()+"-"+name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("node %q of cluster %q: %w", name, c.Name(), ErrNotFound)
}

// OfRole returns the nodes of a role.
func (c *Cluster) OfRole(role string) []*Node {
	var nodes []*Node
	for _, n := range c.Nodes() {
		if n.Role() == role {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (c *Cluster) dir() string { return c.t.dir(c.Name()) }

func (c *Cluster) cgroup(path ...string) (machine.Cgroup, error) {
	return machine.NewCgroup(append([]string{c.Name()}, path...)...)
}

// Memory returns the working set of the nodes and the load balancer in bytes.
func (c *Cluster) Memory() (int64, error) {
	group, err := c.cgroup()
	if err != nil {
		return 0, err
	}
	return group.WorkingSet()
}
