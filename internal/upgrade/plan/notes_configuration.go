package plan

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

// configurationNotes names the fields of kubeadm's ClusterConfiguration that the ClusterReleases
// change, those that stay because they were edited by hand, and those that take effect later.
func (m *planner) configurationNotes(p *Plan, add func(decision, format string, args ...any)) {
	if m.spec.Scope == refitv1alpha1.ScopeWorkers || m.snapshot.Kubeadm == nil {
		return
	}
	var applied []*cluster.Release
	for i, hop := range p.Hops {
		r := m.releaseOf(hop)
		if r == nil || m.catchUp(i) {
			continue
		}
		along := signedconfig.Along(m.snapshot.Kubeadm, append(slices.Clone(applied), r))
		result := &along[len(along)-1]
		if first := m.alreadyAt(hop.Kubernetes); first != nil {
			unappliedNote(result, r, first, add)
			continue
		}
		applied = append(applied, r)
		changedNotes(result, r, add)
		if hop.Etcd.To == "" {
			etcdArgumentsNote(result, r, add)
		}
	}
}

// alreadyAt returns a control plane node that runs a version, or nil. The first node of a version
// stores the configuration, and all others render what is stored.
func (m *planner) alreadyAt(version string) *cluster.Node {
	for _, n := range m.controlPlane {
		if isAt(m.snapshot, n, version) {
			return n
		}
	}
	return nil
}

func changedNotes(result *configpatch.Result, r *cluster.Release, add func(decision, format string, args ...any)) {
	set, removed := result.Texts()
	for _, what := range []struct {
		decision, reason string
		fields           []string
	}{
		{"The kubeadm configuration gets %s", "set by ClusterRelease %s", set},
		{"The kubeadm configuration loses %s", "set by an earlier ClusterRelease, and not by %s", removed},
		{"The kubeadm configuration keeps its own value instead of %s", "edited by hand, so ClusterRelease %s does not replace it", result.Kept.Texts()},
	} {
		if len(what.fields) > 0 {
			add(fmt.Sprintf(what.decision, phrase.List(what.fields)), what.reason, r.Name)
		}
	}
}

// unappliedNote names the changes of a ClusterRelease that this upgrade does not make.
func unappliedNote(result *configpatch.Result, r *cluster.Release, first *cluster.Node, add func(decision, format string, args ...any)) {
	set, removed := result.Texts()
	if fields := slices.Concat(set, removed); len(fields) > 0 {
		add(fmt.Sprintf("The kubeadm configuration stays, without the change of %s by ClusterRelease %s", phrase.List(fields), r.Name),
			"%s runs %s already; the next upgrade of the whole control plane changes it", first.Name, r.Payload.Kubernetes)
	}
}

// etcdArgumentsNote names arguments of an etcd that the upgrade does not restart.
func etcdArgumentsNote(result *configpatch.Result, r *cluster.Release, add func(decision, format string, args ...any)) {
	var fields []string
	for _, change := range result.Changes {
		if section, _ := change.Field.Split(); section == configpatch.EtcdArgs {
			fields = append(fields, string(change.Field))
		}
	}
	if len(fields) > 0 {
		add(fmt.Sprintf("etcd keeps running without the change of %s", phrase.List(fields)),
			"ClusterRelease %s does not upgrade etcd; it takes effect with the next version of etcd", r.Name)
	}
}
