package plan

import (
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// notes are the decisions about the whole plan, in the order in which a reader needs them.
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
		add(fmt.Sprintf("The control plane is upgraded in %d hops", hops), "Kubernetes supports one minor version at a time")
	}
	m.etcdNotes(p, add)
	m.configurationNotes(p, add)
	m.backupNotes(add)
	if m.spec.Scope != refitv1alpha1.ScopeWorkers {
		switch external := m.snapshot.ExternalEtcd() == cluster.Yes; {
		case len(m.controlPlane) == 1:
			add("The API is unavailable for a while", "there is one control plane node")
		case len(m.controlPlane) > 1 && !external:
			add("etcd's leadership moves off each control plane node before its upgrade", "so that etcd does not elect a leader under load")
		}
	}
	switch {
	case len(m.snapshot.Nodes) == 1:
		add("The node is not drained", "it is the only one, so its pods have nowhere to go; their containers restart at most")
	case !m.anyDrain(p):
		add("No node is drained", "a patch release restarts the kubelet, and pods keep running")
	}
	if m.spec.Rollback == refitv1alpha1.RollbackManual {
		add("A node that does not become healthy is not rolled back automatically",
			"rollback is Manual; `refit abort`, or `refit-agent undo --yes` on its host, rolls it back")
	}
	m.windowNotes(add)
	m.excludedNotes(p, add)
	m.missingNotes(p, add)
	return out
}

// windowNotes name the window, and what it does not hold back.
func (m *planner) windowNotes(add func(decision, format string, args ...any)) {
	if m.spec.Window == "" {
		return
	}
	add("Nodes and components are changed in the MaintenanceWindow "+m.spec.Window+" only",
		"spec.window names it; what has started when it closes is completed; `refit window next %s` shows the openings", m.spec.Window)
}

// componentNotes are the decisions about a plan that changes components alone.
func (m *planner) componentNotes(p *Plan) []Note {
	var out []Note
	add := func(decision, format string, args ...any) {
		out = append(out, Note{Decision: decision, Reason: fmt.Sprintf(format, args...)})
	}
	m.configurationNotes(p, add)
	m.excludedNotes(p, add)
	m.missingNotes(p, add)
	m.windowNotes(add)
	return out
}

// excludedNotes names what may start on nodes that do not prefetch.
func (m *planner) excludedNotes(p *Plan, add func(decision, format string, args ...any)) {
	if len(m.excluded) == 0 || m.spec.Scope == refitv1alpha1.ScopeWorkers {
		return
	}
	var starts []string
	if !p.componentsAlone() {
		starts = append(starts, "CoreDNS", "kube-proxy")
	}
	if slices.ContainsFunc(p.components, func(s componentplan.Step) bool { return s.Action != refitv1alpha1.ActionRemove }) {
		starts = append(starts, "components")
	}
	if len(starts) == 0 {
		return
	}
	what := phrase.List(starts)
	add(fmt.Sprintf("%s%s of %s may also start on excluded nodes", strings.ToUpper(what[:1]), what[1:], p.To),
		"they run in the whole cluster, and excluded nodes do not prefetch: make sure that those nodes have the images or can pull them")
}

func (m *planner) missingNotes(p *Plan, add func(decision, format string, args ...any)) {
	if missing := m.missingReleases(p); len(missing) > 0 {
		add("The plan's hash will change", "the cluster has no ClusterRelease of %s yet", strings.Join(missing, ", "))
	}
}

// releaseOf returns the ClusterRelease of a hop, or nil if the cluster has none.
func (m *planner) releaseOf(hop Hop) *cluster.Release {
	i := slices.IndexFunc(m.snapshot.Releases, func(r cluster.Release) bool { return hop.Release != nil && r.Name == hop.Release.Name })
	if i < 0 {
		return nil
	}
	return &m.snapshot.Releases[i]
}

// backupNotes names what the plan leaves out: a control plane whose backup was never tried.
func (m *planner) backupNotes(add func(decision, format string, args ...any)) {
	if m.spec.Scope == refitv1alpha1.ScopeWorkers {
		return
	}
	for _, w := range m.spec.Waivers {
		if w.Check == policy.CheckBackup {
			add("The control plane changes without a proven backup of etcd", "%s is waived: %s", w.Check, w.Reason)
			return
		}
	}
	if m.spec.Backup.Drill == refitv1alpha1.DrillRestore {
		add("The new version is not rehearsed", "spec.backup.drill is Restore")
	}
}

func (m *planner) etcdNotes(p *Plan, add func(decision, format string, args ...any)) {
	if m.spec.Scope == refitv1alpha1.ScopeWorkers {
		return
	}
	moves := false
	for _, hop := range p.Hops {
		if move := hop.Etcd; move.To != "" {
			moves = true
			add(fmt.Sprintf("etcd is upgraded from %s to %s", move.From, move.To), "with %s, one member at a time", hop.Kubernetes)
		}
	}
	if move := p.Hops[len(p.Hops)-1].Etcd; !moves && move.Reason != "" {
		add(strings.TrimSpace("etcd stays "+atVersion(move.From)), "%s", move.Reason)
	}
	if members := len(m.snapshot.EtcdMembers()); members == 2 && m.snapshot.ExternalEtcd() == cluster.No {
		add("etcd is unavailable twice, for some seconds each time", "it has two members, and its quorum is both")
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
