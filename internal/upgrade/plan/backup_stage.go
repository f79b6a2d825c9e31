package plan

import (
	"fmt"
	"slices"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// backedUp reports whether a hop relies on a backup.
func (m *planner) backedUp(p *Plan, hop int) bool {
	return m.controlPlaneMoves(p, hop) && policy.BackupRequired(m.spec) != nil && m.controlPlaneLeft(p, hop)
}

// controlPlaneLeft reports whether the operation changes a control plane node in a hop, or did so.
// One for components alone does not.
func (m *planner) controlPlaneLeft(p *Plan, hop int) bool {
	to := p.Hops[hop].Kubernetes
	if slices.ContainsFunc(upgradedServers(m.snapshot, m.spec), func(n *cluster.Node) bool { return !isAt(m.snapshot, n, to) }) {
		return true
	}
	op := m.snapshot.Operation
	return op != nil && op.Plan != nil && slices.ContainsFunc(op.Plan.Stages, func(s refitv1alpha1.StageSummary) bool {
		return s.Name == refitv1alpha1.StageBackup && s.Kubernetes == to
	})
}

func (m *planner) rehearsed(p *Plan, hop int) bool {
	return m.backedUp(p, hop) && m.spec.Backup.Drill == refitv1alpha1.DrillRehearse
}

func (m *planner) backupReason(*Plan, int) string {
	return fmt.Sprintf("etcd%s is backed up to BackupStore %s, read back and restored in a drill before the control plane changes",
		ofSize(m.databaseMiB()), m.spec.Backup.Store)
}

func (m *planner) rehearsalReason(p *Plan, hop int) string {
	if len(p.Hops)-hop > 1 {
		return "the versions of this hop and of the following ones run on the restored data, with the flags of this cluster"
	}
	return "the new version runs on the restored data, with the flags of this cluster"
}

func ofSize(mib int64) string {
	if mib == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d MiB)", mib)
}

// databaseMiB is the size of etcd's largest database, 0 if no agent reports it.
func (m *planner) databaseMiB() int64 {
	var largest int64
	for _, n := range m.snapshot.ControlPlane() {
		if n.Report != nil && n.Report.Etcd != nil {
			largest = max(largest, n.Report.Etcd.DBSizeMiB)
		}
		if n.Report != nil && n.Report.ExternalEtcd != nil {
			largest = max(largest, n.Report.ExternalEtcd.DBSizeMiB)
		}
	}
	return largest
}

// The estimates of a backup and of a rehearsal: a fixed part, and one that grows with the database.
const (
	defaultBackup        = 45 * time.Second // per backup
	backupMiBPerSecond   = 20               // stored, read back, restored and compared
	defaultRehearsal     = 40 * time.Second // per hop
	rehearseMiBPerSecond = 50
)

func (m *planner) backupSteps(_ *Plan, stage *Stage) {
	stage.Estimate = Estimate{Expected: defaultBackup + seconds(m.databaseMiB()/backupMiBPerSecond)}
}

func (m *planner) rehearsalSteps(p *Plan, stage *Stage) {
	for range p.Hops[stage.Hop:] {
		stage.Estimate.Expected += defaultRehearsal + seconds(m.databaseMiB()/rehearseMiBPerSecond)
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// backupComplete reports whether the backup of a hop was restored in a drill, or none is needed.
// The rehearsal is a part of the same EtcdBackup and a stage of its own.
func (d *deciding) backupComplete(hop int) bool {
	return d.spec.Backup.Drill == refitv1alpha1.DrillRehearse && d.restored(hop) || d.rehearsalComplete(hop)
}

func (d *deciding) rehearsalComplete(hop int) bool {
	return d.firstClosed(HeldControlPlaneHop, nil, hop) == nil
}

// restored reports whether the backup of a hop was restored in a drill, and its rehearsal follows.
func (v *view) restored(hop int) bool {
	b := v.backupOf(hop)
	if b == nil || b.Status.ReadBack == nil || b.Status.Drilled == nil {
		return false
	}
	state := v.backupState(b, hop)
	return state == backupRunning || state == backupRefuted || state == backupProven
}

func (v *view) backupDone(hop int) int32 { return once(!v.needsBackup(hop) || v.restored(hop)) }

func (v *view) rehearsalDone(hop int) int32 {
	return once(!v.needsBackup(hop) || v.backupState(v.backupOf(hop), hop) == backupProven)
}

func once(done bool) int32 {
	if done {
		return 1
	}
	return 0
}

// serverActive reports whether a control plane node is claimed.
func (v *view) serverActive() bool {
	return slices.ContainsFunc(v.op.Active, func(name string) bool { return v.nodes[name] != nil && v.nodes[name].ControlPlane })
}
