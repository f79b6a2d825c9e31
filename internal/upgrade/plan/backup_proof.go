package plan

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// backupState is how far the backup of a hop has come.
type backupState string

const (
	backupMissing  backupState = "Missing"
	backupOutdated backupState = "Outdated" // it has another store, drill or hops than the plan, older data, lost its host, or was deleted
	backupRunning  backupState = "Running"
	backupFailed   backupState = "Failed"  // it was not stored, or not restored in a drill
	backupRefuted  backupState = "Refuted" // a rehearsed hop has findings, or a hop was not rehearsed
	backupStale    backupState = "Stale"   // proven too long ago
	backupProven   backupState = "Proven"
)

// needsBackup reports whether the first control plane change of a hop is still to come, and relies
// on a backup.
func (v *view) needsBackup(hop int) bool {
	planned := slices.ContainsFunc(v.plan.Stages, func(s Stage) bool { return s.Name == refitv1alpha1.StageBackup && s.Hop == hop })
	left := slices.ContainsFunc(v.controlPlane, func(n *cluster.Node) bool { return !v.at(n, hop) })
	return planned && left && !v.controlPlaneChanged(hop)
}

// controlPlaneChanged reports whether the operation has changed a control plane node in this hop.
// No further backup is demanded then: the one before the hop is the one to restore, and a control
// plane of two versions is better completed than kept waiting. A node that was rolled back does not
// count.
func (v *view) controlPlaneChanged(hop int) bool {
	return slices.ContainsFunc(v.controlPlane, func(n *cluster.Node) bool {
		order := v.order(n)
		if order == nil || order.Status.Phase == refitv1alpha1.NodeRolledBack {
			return false
		}
		at, ok := v.orderedHop(order)
		unanswered := order.Spec.Permit == refitv1alpha1.PermitApply && v.phase(n) == ""
		changed := v.changing(n) && v.phase(n) != refitv1alpha1.NodeFailed || node.Disrupted(order.Status.Steps) ||
			order.Status.Phase == refitv1alpha1.NodeSucceeded && v.at(n, hop)
		return ok && (at > hop || at == hop && (unanswered || changed))
	})
}

// backupOf returns the newest backup of a hop, nil if there is none.
func (v *view) backupOf(hop int) *cluster.Backup {
	var newest *cluster.Backup
	for i := range v.s.Backups {
		b := &v.s.Backups[i]
		if b.Hop == v.plan.Hops[hop].Kubernetes && !b.Deleting && (newest == nil || b.Number > newest.Number) {
			newest = b
		}
	}
	return newest
}

// hopsToRehearse are the ClusterReleases of a hop and of the following ones, as far as the cluster
// has them. Later hops have a backup of their own.
func (v *view) hopsToRehearse(hop int) []refitv1alpha1.ReleaseRef {
	var out []refitv1alpha1.ReleaseRef
	for i := hop; i < len(v.plan.Hops) && v.plan.Hops[i].Release != nil; i++ {
		out = append(out, *v.plan.Hops[i].Release)
	}
	return out
}

// backupState is how far the backup of a hop has come.
func (v *view) backupState(b *cluster.Backup, hop int) backupState {
	switch {
	case b == nil:
		return backupMissing
	case !v.backupFits(b, hop) || v.changedSince(b):
		return backupOutdated
	case !b.Status.HasEnded():
		return backupRunning
	case b.Status.ReadBack == nil || b.Status.Drilled == nil:
		return backupFailed
	case b.Status.Deleted != nil || v.lostWithHost(b):
		return backupOutdated
	case len(v.openFindings(b, hop)) > 0:
		return backupRefuted
	case v.now.Sub(v.provenAt(b)) > v.spec.Backup.MaxAge.Duration:
		return backupStale
	}
	return backupProven
}

// backupFits reports whether a backup is what the plan requires: its store, and at least its drill
// and its hops.
func (v *view) backupFits(b *cluster.Backup, hop int) bool {
	want := v.spec.Backup
	if b.Spec.Store != want.Store || b.Spec.Drill == refitv1alpha1.DrillNone || b.Spec.Drill == "" {
		return false
	}
	if want.Drill != refitv1alpha1.DrillRehearse {
		return true
	}
	hops := v.hopsToRehearse(hop)
	return len(b.Spec.Hops) >= len(hops) && slices.Equal(b.Spec.Hops[:len(hops)], hops)
}

// lostWithHost reports whether a backup is in a directory of a host that has left the control plane
// or was set up again since. The directory may be shared storage: then another backup does no harm.
func (v *view) lostWithHost(b *cluster.Backup) bool {
	store := v.s.BackupStore(b.Spec.Store)
	if store == nil || store.Directory == "" {
		return false
	}
	n := v.nodes[b.Status.Node]
	return n == nil || !n.ControlPlane || n.CreatedAt.After(b.CreatedAt)
}

// changedSince reports whether a control plane node has completed a former hop after a backup was
// created: the data is that of another version. The trial of a node stays in its order until the
// next one.
func (v *view) changedSince(b *cluster.Backup) bool {
	return slices.ContainsFunc(v.controlPlane, func(n *cluster.Node) bool {
		order := v.order(n)
		return order != nil && order.Status.Trial != nil && order.Status.Trial.StartTime != nil &&
			v.past(order.Status.Trial.StartTime.Time).After(b.CreatedAt.Add(2*maxClockSkew))
	})
}

// provenAt is when the controller of EtcdBackups found that a backup had ended, and never before it
// was created. The times of its steps are those of a host, whose clock may be ahead.
func (v *view) provenAt(b *cluster.Backup) time.Time {
	ready := meta.FindStatusCondition(b.Status.Conditions, refitv1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return b.CreatedAt
	}
	if at := v.past(ready.LastTransitionTime.Time); at.After(b.CreatedAt) {
		return at
	}
	return b.CreatedAt
}

// openFinding is a reason why a rehearsal proves nothing.
type openFinding struct {
	version string // of the hop
	more    int64  // further findings of the hop, which the status does not list
	refitv1alpha1.RehearsalFinding
}

// openFindings are the findings of the rehearsal that are not waived, and a finding for each hop
// that was not rehearsed.
func (v *view) openFindings(b *cluster.Backup, hop int) []openFinding {
	if v.spec.Backup.Drill != refitv1alpha1.DrillRehearse {
		return nil
	}
	var out []openFinding
	for i, release := range v.hopsToRehearse(hop) {
		version := v.plan.Hops[hop+i].Kubernetes
		at := slices.IndexFunc(b.Status.Rehearsed, func(r refitv1alpha1.RehearsedHop) bool { return r.Release == release })
		if at < 0 {
			if len(out) == 0 { // a rehearsal ends with the first hop that has a problem
				out = append(out, openFinding{version: version, RehearsalFinding: notRehearsed(version)})
			}
			return out
		}
		listed, more := policy.BlockingFindings(v.spec, &b.Status.Rehearsed[at])
		for _, f := range listed {
			out = append(out, openFinding{version: version, RehearsalFinding: f})
		}
		switch {
		case more > 0 && len(listed) > 0:
			out[len(out)-1].more = more
		case more > 0:
			out = append(out, openFinding{version: version, more: more, RehearsalFinding: notListed(version)})
		}
	}
	return out
}

func notRehearsed(version string) refitv1alpha1.RehearsalFinding {
	return refitv1alpha1.RehearsalFinding{
		Reason: "NotRehearsed", Message: version + " was not rehearsed",
		Remedy: "Upgrade the agents to the version of the controller: `refit abort`, `refit install`, then start the upgrade again",
	}
}

func notListed(version string) refitv1alpha1.RehearsalFinding {
	return refitv1alpha1.RehearsalFinding{
		Reason: "NotListed", Message: version + " has more findings than the status of the backup can list",
		Remedy: "Resolve those that are listed",
	}
}
