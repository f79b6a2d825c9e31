package plan

import (
	"cmp"
	"fmt"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// notes are the decisions about the whole, in the order in which a reader needs them.
func (m *planner) notes(p *Plan) []Note {
	var out []Note
	add := func(decision, format string, args ...any) {
		out = append(out, Note{Decision: decision, Reason: fmt.Sprintf(format, args...)})
	}
	hops := len(p.Hops)
	if m.catchUp(0) {
		hops--
		add("Workers catch up with the control plane first", "at %s they would be too old for its next version", p.WorkersFrom)
	}
	if hops > 1 && m.spec.Scope != refitv1alpha1.ScopeWorkers {
		add(fmt.Sprintf("The control plane goes in %d hops", hops), "Kubernetes moves a control plane one minor version at a time")
	}
	m.etcdNotes(p, add)
	if m.spec.Scope != refitv1alpha1.ScopeWorkers {
		switch len(m.controlPlane) {
		case 0:
		case 1:
			add("The API is away for a while", "there is one control plane node")
		default:
			add("etcd's leadership is moved away from each control plane node before it goes", "so that etcd does not have to elect under load")
		}
	}
	switch {
	case len(m.snapshot.Nodes) == 1:
		add("The node is not drained", "it is the only one, so there is nowhere to go; its pods restart with their containers at most")
	case !m.anyDrain(p):
		add("No node is drained", "a patch release restarts the kubelet and leaves its pods running")
	}
	if len(m.excluded) > 0 && m.spec.Scope != refitv1alpha1.ScopeWorkers {
		add(fmt.Sprintf("CoreDNS and kube-proxy of %s may start on nodes that are left out as well", p.To),
			"they belong to the whole cluster, and such nodes fetch nothing beforehand; they need a way to the images, or to hold them")
	}
	if missing := m.missingReleases(p); len(missing) > 0 {
		add("The plan's hash will change", "there is no ClusterRelease of %s in the cluster yet", strings.Join(missing, ", "))
	}
	return out
}

func (m *planner) etcdNotes(p *Plan, add func(decision, format string, args ...any)) {
	if m.spec.Scope == refitv1alpha1.ScopeWorkers {
		return
	}
	moves := false
	for _, hop := range p.Hops {
		if move := hop.Etcd; move.To != "" {
			moves = true
			add(fmt.Sprintf("etcd goes from %s to %s", move.From, move.To), "with %s, one member at a time", hop.Kubernetes)
		}
	}
	if move := p.Hops[len(p.Hops)-1].Etcd; !moves && move.Reason != "" {
		add(strings.TrimSpace("etcd stays "+atVersion(move.From)), "%s", move.Reason)
	}
	if members := len(m.snapshot.EtcdMembers()); members == 2 && m.snapshot.ExternalEtcd() == cluster.No {
		add("etcd is away twice, for some seconds each time", "it has two members, and both are needed for a quorum")
	}
}

func atVersion(v string) string {
	if v == "" {
		return ""
	}
	return "at " + v
}

func (m *planner) anyDrain(p *Plan) bool {
	for _, stage := range p.Stages {
		for _, step := range stage.Nodes {
			if step.Drain {
				return true
			}
		}
	}
	return false
}

func (m *planner) missingReleases(p *Plan) []string {
	var out []string
	for _, hop := range p.Hops {
		if hop.Release == nil {
			out = append(out, hop.Kubernetes)
		}
	}
	return out
}

// etcdOf is the etcd that a hop brings: the tag that kubeadm's configuration pins, else what its ClusterRelease says, else what that version's kubeadm wants.
func etcdOf(s *cluster.Snapshot, version skew.Version, release *cluster.Release) string {
	if s.Kubeadm != nil && s.Kubeadm.EtcdImageTag != "" {
		return plainVersion(s.Kubeadm.EtcdImageTag)
	}
	if release != nil {
		return plainVersion(release.Payload.Etcd)
	}
	facts, ok := kubefacts.For(version.MinorString())
	if !ok {
		return ""
	}
	return plainVersion(facts.Etcd)
}

// plainVersion takes the build off an image's tag: 3.6.8-0 is 3.6.8.
func plainVersion(tag string) string {
	plain, _, _ := strings.Cut(tag, "-")
	return plain
}

func compareWaivers(a, b refitv1alpha1.Waiver) int {
	return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
}
