package preflight

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// view is the Input with what many checks need of it worked out once.
type view struct {
	Input
	s    *cluster.Snapshot
	sim  *disruption.Simulation
	hops []hop
	// ahead are the hops of the control plane: all but one at its present version, at which only workers catch up.
	ahead []hop
	// from is what is known of the version that the control plane has now, nil if that is nothing.
	from *kubefacts.Facts
	// oldest and newest are the versions of the API servers, zero if none is known.
	oldest, newest skew.Version

	nodes  []node // as Snapshot.Nodes
	pools  []pool
	byName map[string]*node
}

// hop is one version of the control plane on the way.
type hop struct {
	version skew.Version
	facts   *kubefacts.Facts // nil: Refit does not know this minor version
	release *cluster.Release // nil: the cluster has none
	workers bool             // the workers follow to this version
	last    bool
	catchUp bool // it is the control plane's present version, to which only workers go
	// etcdTag and dnsTag are image tags that kubeadm's configuration keeps to, whatever the release brings.
	etcdTag, dnsTag string
}

// String is the version as people know it: of an intermediate hop only the minor version is certain.
func (h hop) String() string {
	if h.last || h.catchUp {
		return h.version.String()
	}
	return h.version.MinorString()
}

// takes says whether a hop takes a node along, if its version is older.
func (h hop) takes(n *cluster.Node) bool {
	if n.ControlPlane {
		return !h.catchUp || h.last
	}
	return h.workers
}

// node is a node and what the upgrade does with it.
type node struct {
	*cluster.Node
	kubelet skew.Version // zero if it is not known
	hops    []hop        // of its kubelet
	leftOut bool         // the upgrade does not touch it, whatever its version
	touched bool         // the upgrade changes it
	drained bool         // and empties it before
	pool    int          // index into view.pools, -1 for a control plane node
	drain   refitv1alpha1.Drain
	moves   *disruption.NodeDrain
}

func (n *node) object() string { return policy.NodeObject(n.Name) }

// pool is nodes that share a policy.
type pool struct {
	refitv1alpha1.Pool
	size           int // all of its nodes
	touched        int // of those
	maxUnavailable int
	unavailable    int // not ready or cordoned by hand, and not set aside by a waiver
}

func newView(in Input) *view {
	if in.Snapshot == nil {
		in.Snapshot = &cluster.Snapshot{}
	}
	v := &view{Input: in, s: in.Snapshot, sim: disruption.Simulate(in.Snapshot), byName: map[string]*node{}}
	v.from, _ = kubefacts.For(in.Path.From.MinorString())
	for i, version := range in.Path.Hops {
		h := hop{version: version, last: i == len(in.Path.Hops)-1, catchUp: version == in.Path.From}
		h.workers = i < len(in.Path.WorkersFollow) && in.Path.WorkersFollow[i]
		h.facts, _ = kubefacts.For(version.MinorString())
		h.release = policy.ReleaseFor(v.s, &v.Spec, version, in.Path.From, h.last)
		v.pin(&h)
		v.hops = append(v.hops, h)
		if !h.catchUp {
			v.ahead = append(v.ahead, h)
		}
	}
	v.apiServerVersions()
	v.Spec = policy.Defaulted(in.Spec)
	for _, p := range v.Spec.Pools {
		v.pools = append(v.pools, pool{Pool: p})
	}
	v.nodes = make([]node, len(v.s.Nodes))
	for i := range v.s.Nodes {
		v.nodes[i] = v.node(&v.s.Nodes[i])
		v.nodes[i].moves = v.sim.Node(v.s.Nodes[i].Name)
		v.byName[v.nodes[i].Name] = &v.nodes[i]
	}
	v.fillPools()
	return v
}

func (v *view) node(seen *cluster.Node) node {
	n := node{Node: seen, pool: -1}
	n.kubelet, _ = skew.Parse(seen.Kubelet)
	n.leftOut = policy.LeftOut(&v.Spec, seen) != ""
	for _, h := range v.hops {
		if !n.leftOut && h.takes(seen) && n.kubelet.Before(h.version) {
			n.hops = append(n.hops, h)
		}
	}
	n.touched = !n.leftOut && (len(n.hops) > 0 || (seen.ControlPlane && v.behind(seen)))
	n.drain = *policy.DrainOf(&v.Spec, seen)
	if !seen.ControlPlane {
		n.pool = policy.PoolOf(&v.Spec, seen)
	}
	// On a single node there is nowhere to drain to.
	n.drained = n.touched && len(v.s.Nodes) > 1 && (n.drain.When == refitv1alpha1.DrainAllReleases || n.otherMinor())
	return n
}

func (n *node) otherMinor() bool {
	for _, h := range n.hops {
		if !h.version.SameMinor(n.kubelet) {
			return true
		}
	}
	return false
}

// behind says whether a part of a node's control plane is not at the target.
func (v *view) behind(n *cluster.Node) bool {
	for component, pod := range n.Static {
		version, err := skew.Parse(pod.Version)
		if component != "etcd" && err == nil && version.Before(v.Path.To) {
			return true
		}
	}
	return false
}

// setAside says whether a waiver names this check and this node.
func (v *view) setAside(check, node string) bool {
	return policy.Waived(&v.Spec, check, policy.NodeObject(node))
}

func (v *view) apiServerVersions() {
	for _, n := range v.s.ControlPlane() {
		version := v.s.APIServerVersion(n)
		if !version.IsZero() && (v.oldest.IsZero() || version.Before(v.oldest)) {
			v.oldest = version
		}
		v.newest = skew.Max(v.newest, version)
	}
	if v.oldest.IsZero() {
		v.oldest, _ = skew.Parse(v.s.Version) // zero if that is unknown too
		v.newest = v.oldest
	}
}

// movesControlPlane says whether the upgrade changes the control plane at all.
func (v *view) movesControlPlane() bool { return v.Spec.Scope != refitv1alpha1.ScopeWorkers }

// reported are the nodes that the upgrade changes and whose agent told about them.
func (v *view) reported() []*node {
	var out []*node
	for i := range v.nodes {
		if n := &v.nodes[i]; n.touched && n.Report != nil {
			out = append(out, n)
		}
	}
	return out
}

// controlPlane are the control plane nodes.
func (v *view) controlPlane() []*node {
	var out []*node
	for i := range v.nodes {
		if v.nodes[i].ControlPlane {
			out = append(out, &v.nodes[i])
		}
	}
	return out
}

// unread returns those of these parts that could not be read. A part that is absent has nothing to read.
func (v *view) unread(parts []cluster.Part) []cluster.Part {
	var out []cluster.Part
	for _, part := range parts {
		if gap, is := v.s.Gap(part); is && gap.Kind != cluster.GapAbsent {
			out = append(out, part)
		}
	}
	return out
}
