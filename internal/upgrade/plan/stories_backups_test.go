package plan

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// provenBackupStories are about the backup that an upgrade relies on.
var provenBackupStories = []story{
	{
		name: "backup-proven",
		summary: "etcd is backed up, the backup is restored in a drill, and the new version is rehearsed on it. " +
			"Only then the first control plane node is selected.",
		scenario: minor(shape(3, 1), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
	},
	{
		name:     "backup-two-hops",
		summary:  "Each hop has a backup of its own. That of the first hop rehearses both versions.",
		scenario: minor(shape(1, 1), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1"), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
	},
	{
		name:     "backup-restore-only",
		summary:  "The backup is restored in a drill; the new version is not rehearsed.",
		scenario: minor(shape(1, 0), backedUp(refitv1alpha1.UpgradeBackup{Drill: refitv1alpha1.DrillRestore})), ends: Succeeded,
	},
	{
		name:     "backup-waived",
		summary:  "BackupProven is waived: the plan has no backup.",
		scenario: minor(shape(1, 0), backedUp(refitv1alpha1.UpgradeBackup{}), spec(waiveBackup)), ends: Succeeded,
	},
	{
		name:     "backup-failed",
		summary:  "The store refuses every object, so the backup fails. The user fixes the store and retries, which takes another backup.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		before: func(w *world) { w.storeFails = true },
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) {
			t.storeFails = false
			t.retry()
		}}},
	},
	{
		name:     "rehearsal-finding",
		summary:  "The new version does not know a flag of this cluster. The operation stalls, and nothing has changed. The user removes the flag and retries.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		before: func(w *world) { w.findings = []refitv1alpha1.RehearsalFinding{flagFinding} },
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) {
			t.findings = nil
			t.retry()
		}}},
	},
	{
		name:     "rehearsal-unknown",
		summary:  "The rehearsal could not decide, which proves nothing. The user waives that by name; the same backup counts then.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		before: func(w *world) { w.findings = []refitv1alpha1.RehearsalFinding{kmsFinding} },
		script: []scriptEvent{
			{later(5, is(Stalled)), func(t *storyRun) { t.waiveUnknown() }},
			{is(AwaitingApproval), func(t *storyRun) { t.approve() }},
		},
	},
	{
		name:     "backup-deleted",
		summary:  "The EtcdBackup is deleted while it runs. Its order is withdrawn, and the operation takes another one.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		script: []scriptEvent{{backingUpOn("cp-2"), deletesBackups}},
	},
	{
		name:     "backup-stale",
		summary:  "The operation is paused for two hours after the backup was proven, and a backup may be one hour old. It takes another one.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{MaxAge: metav1.Duration{Duration: time.Hour}})), ends: Succeeded,
		script: []scriptEvent{
			{claimed("cp-2"), edits(pause, "the user pauses")},
			{later(120, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name: "backup-stale-during-hop",
		summary: "The operation is paused for two hours after the first control plane node was upgraded. No other backup is taken of a control plane of two " +
			"versions: the one before the hop is the one to restore.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{MaxAge: metav1.Duration{Duration: time.Hour}})), ends: Succeeded,
		script: []scriptEvent{
			{upgraded("cp-2"), edits(pause, "the user pauses")},
			{later(120, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name:     "backup-aborted",
		summary:  "The user aborts while etcd is backed up. The backup is canceled, and no node has changed.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Aborted,
		script: []scriptEvent{{backingUpOn("cp-2"), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "backup-paused",
		summary:  "The user pauses while etcd is backed up. The backup ends, no control plane node is selected, and the operation continues with it once it is resumed.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		script: []scriptEvent{
			{backingUpOn("cp-2"), edits(pause, "the user pauses")},
			{later(20, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name:     "backup-retried",
		summary:  "The store refuses every object, and the user retries while the backup is still taken. The operation takes another one after it.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		before: func(w *world) { w.storeFails = true },
		script: []scriptEvent{
			{backingUpOn("cp-3"), func(t *storyRun) { t.retry() }},
			{secondBackup, func(t *storyRun) { t.storeFails = false }},
		},
	},
	{
		name:     "rehearsal-aborted",
		summary:  "The user aborts during the rehearsal. The backup is canceled, and no node has changed.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Aborted,
		script: []scriptEvent{{rehearsingOn("cp-2"), func(t *storyRun) { t.abort() }}},
	},
	{
		name:     "rehearsal-paused",
		summary:  "The user pauses during the rehearsal. It ends, and the operation continues with it once it is resumed.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		script: []scriptEvent{
			{rehearsingOn("cp-2"), edits(pause, "the user pauses")},
			{later(20, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name:     "backup-controller-stalled",
		summary:  "The controller of EtcdBackups does nothing. The operation reports that after ten minutes, and continues once the controller runs.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		before: func(w *world) { w.backupsStall = true },
		script: []scriptEvent{{later(5, is(Stalled)), func(t *storyRun) {
			t.note("* the user restarts the controller of EtcdBackups")
			t.backupsStall = false
		}}},
	},
	{
		name: "backup-forged",
		summary: "Someone who may create EtcdBackups creates that of the second hop before the first one. Its data is older than the first hop, so the " +
			"operation takes another one.",
		scenario: minor(shape(1, 0), upgradePath("v1.35.4", "v1.37.1", "v1.36.3", "v1.37.1"), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		script: []scriptEvent{{at(0), func(t *storyRun) { t.forgeBackup(t.releases[1], 1, refitv1alpha1.DrillRehearse) }}},
	},
	{
		name: "backup-stale-clock-ahead",
		summary: "The operation is paused for two hours after the backup was proven on a host whose clock is a day ahead, and a backup may be one hour old. " +
			"It takes another one.",
		scenario: minor(shape(3, 0), backedUp(refitv1alpha1.UpgradeBackup{MaxAge: metav1.Duration{Duration: time.Hour}})), ends: Succeeded,
		before: func(w *world) { w.machine("cp-2").skew = 24 * time.Hour },
		script: []scriptEvent{
			{claimed("cp-2"), edits(pause, "the user pauses")},
			{later(120, is(Paused)), edits(resume, "the user resumes")},
		},
	},
	{
		name:     "backup-claimed-by-hand",
		summary:  "Someone has claimed a control plane node by hand before the backup is proven. It is released unchanged.",
		scenario: minor(shape(3, 0), upgradePath("v1.36.1", "v1.36.3", "v1.36.3"), backedUp(refitv1alpha1.UpgradeBackup{})), ends: Succeeded,
		script: []scriptEvent{{backingUpOn("cp-2"), claimedByHand("cp-3")}},
	},
}

func backedUp(backup refitv1alpha1.UpgradeBackup) func(*scenario) {
	return spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Backup = &backup })
}

func waiveBackup(s *refitv1alpha1.ClusterUpgradeSpec) {
	s.Waivers = append(s.Waivers, refitv1alpha1.Waiver{Check: policy.CheckBackup, Reason: "the storage has snapshots"})
}

// backingUpOn is when the agent of a node takes the backup.
func backingUpOn(name string) func(*storyRun) bool {
	return func(t *storyRun) bool { return t.machine(name).takesBackup() }
}

// rehearsingOn is when the agent of a node has restored the backup and rehearses.
func rehearsingOn(name string) func(*storyRun) bool {
	return func(t *storyRun) bool {
		return t.machine(name).takesBackup() && t.machine(name).agent.status.Backup.Drilled != nil
	}
}

func secondBackup(t *storyRun) bool { return len(t.backups) > 1 }

func deletesBackups(t *storyRun) {
	for _, b := range t.backups {
		t.note("! EtcdBackup %s is deleted", b.Name)
		t.deleteBackup(b.Name, string(b.UID))
	}
}
