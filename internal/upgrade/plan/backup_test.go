package plan

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// etcdBackedUp orders the agent of a node that is suitable to back up etcd.
func etcdBackedUp(w *world) bool {
	m := w.pick(func(m *machine) bool { return w.suitableForBackup(m) })
	if m == nil {
		return false
	}
	w.backUp(m)
	return true
}

// suitableForBackup applies the rules of the controller of EtcdBackups, right after a report.
func (w *world) suitableForBackup(m *machine) bool {
	n := w.backupNode(m)
	return n.Report != nil && m.controlPlane && etcdbackup.Unsuitable(n, slices.Contains(w.op.Active, m.name), w.now) == ""
}

// backupNode is the node of a machine whose agent has just reported.
func (w *world) backupNode(m *machine) *cluster.Node {
	n := &cluster.Node{Name: m.name, UID: m.uid, ControlPlane: m.controlPlane, Ready: yesNo(m.ready), Upgrade: m.upgrade, ReportRequest: w.now.Unix()}
	if m.report != nil {
		report := *m.report
		report.Answered, n.Report = n.ReportRequest, &report
	}
	return n
}

// backUp writes the order of a backup that no operation relies on.
func (w *world) backUp(m *machine) {
	w.joined++ // for a UID of its own
	ref := refitv1alpha1.BackupRef{Name: "nightly", UID: types.UID(fmt.Sprintf("backup-%d", w.joined)), Attempt: 1, Store: "local"}
	w.note("! etcd is backed up on %s", m.name)
	w.orderBackup(m, ref)
}

// orderBackup writes an order to back up etcd.
func (w *world) orderBackup(m *machine, ref refitv1alpha1.BackupRef) {
	next := cluster.Upgrade{}
	if m.upgrade != nil {
		next = *m.upgrade
	}
	next.Spec = orders.Backup(&next.Spec, w.backupNode(m), ref, w.now)
	next.Generation++
	m.upgrade = &next
	m.upgradeVersion++
}

// startBackup starts the backup of an order, or fails it: a host that is partly changed takes none.
// Hold stops one.
func (m *machine) startBackup(w *world, order *refitv1alpha1.NodeUpgradeSpec) {
	if order.Permit == refitv1alpha1.PermitHold && m.takesBackup() {
		stopped := *m.agent.status.Backup
		stopped.Phase = refitv1alpha1.BackupFailed
		m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.Backup = &stopped })
	}
	if order.Permit != refitv1alpha1.PermitBackup {
		return
	}
	status := &refitv1alpha1.NodeBackupStatus{UID: order.Backup.UID, Attempt: order.Backup.Attempt, Phase: refitv1alpha1.BackupRunning}
	if m.agentChanges() || m.agent.old != nil {
		status.Phase = refitv1alpha1.BackupFailed
	}
	takes := w.duration(6, 30)
	m.agent.drillEnds, m.agent.backupEnds = w.now.Add(takes/2), w.now.Add(takes)
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.Backup = status })
}

func (m *machine) takesBackup() bool {
	b := m.agent.status.Backup
	return b != nil && b.Phase == refitv1alpha1.BackupRunning
}

// proceedBackup drills the backup, and ends it when its time has come, whatever the present order
// is.
func (m *machine) proceedBackup(w *world) {
	if !m.takesBackup() || w.now.Before(m.agent.drillEnds) {
		return
	}
	status := *m.agent.status.Backup
	if status.Drilled == nil {
		w.drill(m, &status)
	}
	if status.Phase == refitv1alpha1.BackupRunning && !w.now.Before(m.agent.backupEnds) {
		status.Phase = refitv1alpha1.BackupSucceeded
		w.rehearse(m, &status)
	}
	if status.Phase != refitv1alpha1.BackupRunning {
		w.note("the backup of etcd on %s ends", m.name)
	}
	if !reflect.DeepEqual(status, *m.agent.status.Backup) {
		m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.Backup = &status })
	}
}

// stopBackup ends a backup before a step disrupts etcd or the API server. The plan waits for a
// backup unless a restore of etcd has lost its order.
func (m *machine) stopBackup(w *world, step string) {
	if step == stepKubelet || !m.takesBackup() {
		return
	}
	w.require(w.restored, "I10: %s is stopped on %s during a backup of etcd", step, m.name)
	stopped := *m.agent.status.Backup
	stopped.Phase = refitv1alpha1.BackupFailed
	m.write(func(s *refitv1alpha1.NodeUpgradeStatus) { s.Backup = &stopped })
}

// keepPrefetched reports what was prefetched before the backup.
func (m *machine) keepPrefetched(order *refitv1alpha1.NodeUpgradeSpec) {
	if slices.Contains(m.agent.fetched, order.Release.Name) {
		m.phase(refitv1alpha1.NodePrefetched)
		return
	}
	m.phase(refitv1alpha1.NodeIdle)
}

// backupStories are about backups of etcd beside an upgrade.
var backupStories = []story{
	{
		name:     "backup-after-prefetch",
		summary:  "etcd is backed up on cp-3 once it has prefetched. It stays prefetched, and its turn comes after the backup.",
		scenario: minor(shape(3, 1)), ends: Succeeded,
		script: []scriptEvent{{claimed("cp-2"), backsUp("cp-3")}},
	},
	{
		name:     "backup-before-prefetch",
		summary:  "etcd is backed up on the only control plane node before it has an order. It prefetches after the backup.",
		scenario: minor(shape(1, 1)), ends: Succeeded,
		script: []scriptEvent{{at(0), backsUp("cp-1")}},
	},
	{
		name:     "backup-after-upgrade",
		summary:  "etcd is backed up on cp-1 after its upgrade, while workers are upgraded. Nothing waits for it.",
		scenario: minor(shape(3, 2)), ends: Succeeded,
		script: []scriptEvent{{claimed("worker-1"), backsUp("cp-1")}},
	},
	{
		name:     "backup-on-stopped-agent",
		summary:  "The agent on cp-3 stops before it takes the order to back up etcd. The operation reports that and continues once the agent runs.",
		scenario: minor(shape(3, 0)), ends: Succeeded,
		script: []scriptEvent{
			{claimed("cp-2"), func(t *storyRun) {
				t.setAgent(t.machine("cp-3"), false)
				t.backUp(t.machine("cp-3"))
			}},
			{at(8), func(t *storyRun) { t.setAgent(t.machine("cp-3"), true) }},
		},
	},
}

func backsUp(name string) func(*storyRun) {
	return func(t *storyRun) { t.backUp(t.machine(name)) }
}
