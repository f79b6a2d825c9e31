package preflight

import (
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/disruption"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// view is the Input with values that many checks share.
type view struct {
	Input
	s    *cluster.Snapshot
	sim  *disruption.Simulation
	hops []hop
	// ahead are the hops that change the control plane: all except one at its current version, at
	// which only workers catch up.
	ahead []hop
	// from holds the facts about the current version of the control plane, nil if there are none.
	from *kubefacts.Facts
	// oldest and newest are the versions of the API servers, zero if unknown.
	oldest, newest skew.Version

	components componentplan.Result

	nodes  []node // as Snapshot.Nodes
	pools  []pool
	byName map[string]*node
}

// hop is one version of the control plane on the version path.
type hop struct {
	version skew.Version
	facts   *kubefacts.Facts // nil if Refit has no facts about this minor version
	release *cluster.Release // nil if the cluster has none
	workers bool             // the workers are upgraded to this version
	last    bool
	catchUp bool // only workers are upgraded, to the current control plane version
	// etcdTag and dnsTag are image tags pinned in the kubeadm configuration; they override the
	// ClusterRelease.
	etcdTag, dnsTag string
}

// String returns the full version, or the minor version of an intermediate hop, whose patch is not
// fixed.
func (h hop) String() string {
	if h.last || h.catchUp {
		return h.version.String()
	}
	return h.version.MinorString()
}

// takes reports whether a hop upgrades a node that is older.
func (h hop) takes(n *cluster.Node) bool {
	if n.ControlPlane {
		return !h.catchUp || h.last
	}
	return h.workers
}

// node is a node and how the upgrade affects it.
type node struct {
	*cluster.Node
	kubelet skew.Version // zero if unknown
	hops    []hop        // at which its kubelet is upgraded
	leftOut bool         // excluded from the upgrade
	touched bool         // the upgrade changes it
	fetches bool         // files or images are copied to it before anything changes
	drained bool         // the upgrade drains it
	pool    int          // index into view.pools, -1 for a control plane node
	drain   refitv1alpha1.Drain
	moves   *disruption.NodeDrain
}

func (n *node) object() string { return policy.NodeObject(n.Name) }

// pool is a set of nodes that share a policy.
type pool struct {
	refitv1alpha1.Pool
	size           int // all of its nodes
	touched        int // nodes that the upgrade changes
	maxUnavailable int
	unavailable    int // not ready or cordoned by hand, without a waiver
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
	v.components = componentplan.Of(v.s, &v.Spec, in.Path, policy.ComponentReleases(v.s, &v.Spec, in.Path))
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
	n.leftOut = policy.Exclusion(&v.Spec, seen) != ""
	for _, h := range v.hops {
		if !n.leftOut && h.takes(seen) && n.kubelet.Before(h.version) {
			n.hops = append(n.hops, h)
		}
	}
	n.touched = !n.leftOut && (len(n.hops) > 0 || (seen.ControlPlane && v.behind(seen)))
	n.fetches = n.touched || !n.leftOut && v.bringsImages()
	n.drain = *policy.DrainOf(&v.Spec, seen)
	if !seen.ControlPlane {
		n.pool = policy.PoolOf(&v.Spec, seen)
	}
	// Pods of a single-node cluster have no other node to move to.
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

// bringsImages reports whether components need images on nodes, also on those that run the version.
func (v *view) bringsImages() bool {
	return slices.ContainsFunc(v.components.Steps, func(s componentplan.Step) bool { return s.Action != refitv1alpha1.ActionRemove })
}

// behind reports whether a control plane component of the node is older than the target.
func (v *view) behind(n *cluster.Node) bool {
	for component, pod := range n.Static {
		version, err := skew.Parse(pod.Version)
		if component != "etcd" && err == nil && version.Before(v.Path.To) {
			return true
		}
	}
	return false
}

// waived reports whether a waiver names this check and this node.
func (v *view) waived(check, node string) bool {
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
		v.oldest, _ = skew.Parse(v.s.Version)
		v.newest = v.oldest
	}
}

// movesControlPlane reports whether the upgrade changes the control plane.
func (v *view) movesControlPlane() bool { return v.Spec.Scope != refitv1alpha1.ScopeWorkers }

// reported returns the nodes that the upgrade changes and that have a report of their agent.
func (v *view) reported() []*node {
	return slices.DeleteFunc(v.fetching(), func(n *node) bool { return !n.touched })
}

// fetching returns the nodes that get files or images and that have a report of their agent.
func (v *view) fetching() []*node {
	var out []*node
	for i := range v.nodes {
		if n := &v.nodes[i]; n.fetches && n.Report != nil {
			out = append(out, n)
		}
	}
	return out
}

// reportTime returns when the agent of the node that a finding is about has observed its host, zero
// without a report.
func (v *view) reportTime(object string) time.Time {
	for _, kind := range []string{policy.NodeObject(""), etcdMemberKind, apiServerKind} {
		if name, is := strings.CutPrefix(object, kind); is && v.byName[name] != nil && v.byName[name].Report != nil {
			return v.byName[name].Report.Observed()
		}
	}
	return time.Time{}
}

func (v *view) controlPlane() []*node {
	var out []*node
	for i := range v.nodes {
		if v.nodes[i].ControlPlane {
			out = append(out, &v.nodes[i])
		}
	}
	return out
}

// unread returns the parts that could not be read. An absent part has nothing to read.
func (v *view) unread(parts []cluster.Part) []cluster.Part {
	var out []cluster.Part
	for _, part := range parts {
		if gap, is := v.s.Gap(part); is && gap.Kind != cluster.GapAbsent {
			out = append(out, part)
		}
	}
	return out
}
