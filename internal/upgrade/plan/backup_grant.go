package plan

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/orders"
)

// BackupRequest is the EtcdBackup of a CreateBackup or a DeleteBackup.
type BackupRequest struct {
	Name   string
	UID    string // of one to delete
	Hop    string
	Number int64
	Retry  int64
	Spec   refitv1alpha1.EtcdBackupSpec
}

// grantBackup creates the backup of a hop and follows it. While a control plane node is claimed, no
// other one is created: the claim relied on one that was proven then.
func (d *deciding) grantBackup(hop int) {
	b := d.backupOf(hop)
	state := d.backupState(b, hop)
	retried := b != nil && d.op.Spec.Retry > b.Retry
	switch {
	case state == backupRunning:
		d.followBackup(b, hop)
	case d.serverActive():
	case state == backupMissing:
		d.createBackup(hop, "no control plane node changes to "+d.plan.Hops[hop].Kubernetes+" before a backup is proven")
	case state == backupOutdated && !b.Status.HasEnded():
		d.deleteBackup(b, "it is not the backup that the plan requires")
	case state == backupOutdated:
		d.createBackup(hop, "the last one is not what the plan requires")
	case state == backupStale:
		d.createBackup(hop, fmt.Sprintf("the last one is older than %s", duration(d.spec.Backup.MaxAge.Duration)))
	case retried:
		d.createBackup(hop, "retry was requested")
	case state == backupFailed:
		d.wait(failedBackup(b))
	default:
		d.reportFindings(b, hop)
	}
}

// createBackup creates the next backup of a hop. Its name follows from the operation, the hop and
// its number: a controller that does not see it yet cannot create it twice.
func (d *deciding) createBackup(hop int, why string) {
	if w := releaseMissing(d, nil, hop); w != nil {
		d.wait(*w)
		return
	}
	if w := d.firstClosed(HeldBackup, nil, hop); w != nil {
		d.wait(*w)
		return
	}
	version, number := d.plan.Hops[hop].Kubernetes, int64(1)
	for i := range d.s.Backups {
		if b := &d.s.Backups[i]; b.Hop == version {
			number = max(number, b.Number+1)
		}
	}
	if number > cluster.MaxBackupNumber {
		d.wait(noNextBackup(version, number-1))
		return
	}
	spec := refitv1alpha1.EtcdBackupSpec{Store: d.spec.Backup.Store, Operation: d.op.Name, Drill: d.spec.Backup.Drill}
	if spec.Drill == refitv1alpha1.DrillRehearse {
		spec.Hops = d.hopsToRehearse(hop)
	}
	d.actions = append(d.actions, Action{Kind: CreateBackup, Reason: why, Backup: &BackupRequest{
		Name: cluster.BackupName(d.op, version, number), Hop: version, Number: number, Retry: d.op.Spec.Retry, Spec: spec,
	}})
}

// noNextBackup requires manual intervention for a number that no operation reaches: someone else
// has created the backup.
func noNextBackup(version string, number int64) Wait {
	return Wait{
		Reason: refitv1alpha1.ReasonBackupFailed, ManualIntervention: true,
		Message: fmt.Sprintf("Cannot create another backup for %s: number %d is the last", version, number),
		Remedy:  fmt.Sprintf("Delete the EtcdBackup of this operation with the label %s=%d", refitv1alpha1.LabelNumber, number),
	}
}

func (d *deciding) deleteBackup(b *cluster.Backup, why string) {
	d.actions = append(d.actions, Action{Kind: DeleteBackup, Reason: why, Backup: &BackupRequest{Name: b.Name, UID: b.UID, Hop: b.Hop, Number: b.Number}})
}

// deleteBackups deletes the backups of an aborted operation that have not ended. It reports whether
// there are some.
func (d *deciding) deleteBackups(why string) bool {
	some := false
	for i := range d.s.Backups {
		if b := &d.s.Backups[i]; !b.Deleting && !b.Status.HasEnded() {
			some = true
			d.deleteBackup(b, why)
		}
	}
	return some
}

// followBackup waits for a backup. The controller of EtcdBackups bounds each of its steps. An agent
// that does not respond is reported before, and a controller that does not bound them later.
func (d *deciding) followBackup(b *cluster.Backup, hop int) {
	if n := d.nodes[b.Status.Node]; n != nil && b.Status.StartTime != nil {
		if w := agentSilent(d, n, hop); w != nil {
			d.wait(*w)
			return
		}
	}
	what := "Backing up etcd"
	if d.restored(hop) {
		what = "Rehearsing " + d.plan.Hops[hop].Kubernetes + " on the restored backup"
	}
	w := Wait{Reason: refitv1alpha1.ReasonBackupPending, Node: b.Status.Node, Since: b.CreatedAt, Message: what + ": EtcdBackup " + b.Name}
	stalled := meta.FindStatusCondition(b.Status.Conditions, refitv1alpha1.ConditionStalled)
	switch {
	case meta.IsStatusConditionTrue(b.Status.Conditions, refitv1alpha1.ConditionStalled):
		w.ManualIntervention, w.Message = true, fmt.Sprintf("EtcdBackup %s waits: %s", b.Name, stalled.Message)
		w.Remedy = "Fix what it waits for; it continues then" + orWaiveBackup
	case d.neglected(b):
		w.ManualIntervention, w.Message = true, fmt.Sprintf("The controller of EtcdBackups does not act on EtcdBackup %s", b.Name)
		w.Remedy = "Check that the controllers of this version run: `kubectl -n refit-system get pods`" + orWaiveBackup
	default: // the steps are in the EtcdBackup: they would change the status of the operation too often
		progress := meta.FindStatusCondition(b.Status.Conditions, refitv1alpha1.ConditionReconciling)
		switch {
		case b.Status.StartTime != nil:
			w.Message += fmt.Sprintf(", attempt %d on %s", b.Status.Attempt, b.Status.Node)
		case progress != nil:
			w.Message += ": " + progress.Message
		}
		d.busy++
	}
	d.wait(w)
}

// neglected reports whether the controller of EtcdBackups has left a backup alone for longer than
// any step of it takes. Only an agent that takes the backup has hours.
func (v *view) neglected(b *cluster.Backup) bool {
	if b.Status.StartTime == nil {
		return v.overdue(b.Status.IdleSince(b.CreatedAt))
	}
	since, limit := latest(b.CreatedAt, v.past(b.Status.StartTime.Time)), interventionDelay
	switch progress := v.attempt(b); {
	case progress != nil && !progress.Ended():
		limit += orders.BackupTimeout
	case progress != nil:
		since = latest(since, v.past(v.byThisClock(v.nodes[b.Status.Node], endOf(progress))))
	}
	return v.now.Sub(since) > limit
}

// attempt is what the agent reports about the present attempt of a backup, nil if it has not
// started it.
func (v *view) attempt(b *cluster.Backup) *refitv1alpha1.NodeBackupStatus {
	n := v.nodes[b.Status.Node]
	ref := refitv1alpha1.BackupRef{UID: types.UID(b.UID), Attempt: b.Status.Attempt}
	if n == nil || n.Upgrade == nil || !n.Upgrade.Status.Backup.IsOf(ref) {
		return nil
	}
	return n.Upgrade.Status.Backup
}

// endOf is when an attempt ended, by the clock of its host.
func endOf(progress *refitv1alpha1.NodeBackupStatus) time.Time {
	switch last := len(progress.Rehearsed) - 1; {
	case progress.Error != nil:
		return progress.Error.At.Time
	case last >= 0:
		return progress.Rehearsed[last].At.Time
	case progress.Drilled != nil:
		return progress.Drilled.Time
	case progress.ReadBack != nil:
		return progress.ReadBack.Time
	}
	return time.Time{}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

const orWaiveBackup = ". To upgrade without a proven backup, waive BackupProven with a reason"

// failedBackup requires manual intervention for a backup that was not stored, or not restored.
func failedBackup(b *cluster.Backup) Wait {
	w := Wait{
		Reason: refitv1alpha1.ReasonBackupFailed, Node: b.Status.Node, ManualIntervention: true,
		Message: fmt.Sprintf("EtcdBackup %s was stored, but not restored in a drill", b.Name),
		Remedy:  "Upgrade the agents to the version of the controller: `refit abort`, `refit install`, then start the upgrade again",
	}
	if failure := b.Status.Error; failure != nil {
		w.Message = fmt.Sprintf("EtcdBackup %s failed (%s): %s", b.Name, failure.Class, failure.Message)
		w.Remedy = afterRemedy(failure.Remedy, "run `refit retry`")
	}
	return w
}

// findingsReported is how many findings of a rehearsal an operation reports. The EtcdBackup has
// all.
const findingsReported = 5

// reportFindings requires manual intervention for the findings of a rehearsal.
func (d *deciding) reportFindings(b *cluster.Backup, hop int) {
	open := d.openFindings(b, hop)
	for i := range open[:min(len(open), findingsReported)] {
		d.wait(findingWait(b, &open[i]))
	}
	rest := int64(max(0, len(open)-findingsReported))
	for i := range open {
		rest += open[i].more
	}
	if rest > 0 {
		d.wait(Wait{
			Reason: refitv1alpha1.ReasonRehearsalFailed, ManualIntervention: true,
			Message: fmt.Sprintf("The rehearsal has %d more findings", rest),
			Remedy:  fmt.Sprintf("List them: `kubectl get etcdbackup %s -o yaml`", b.Name),
		})
	}
}

func findingWait(b *cluster.Backup, f *openFinding) Wait {
	w := Wait{Reason: refitv1alpha1.ReasonRehearsalFailed, Node: b.Status.Node, ManualIntervention: true}
	what := strings.TrimPrefix(f.Object+": "+f.Message, ": ")
	w.Message = fmt.Sprintf("The rehearsal of %s on the restored backup fails: %s", f.version, what)
	w.Remedy = afterRemedy(f.Remedy, "run `refit retry`")
	if f.Unknown {
		w.Message = fmt.Sprintf("The rehearsal of %s on the restored backup could not decide: %s", f.version, what)
		w.Remedy = afterRemedy(f.Remedy, "run `refit retry`, or waive RehearsalUnknown with a reason")
	}
	return w
}

// afterRemedy adds what to do after a remedy.
func afterRemedy(remedy, then string) string {
	remedy = strings.TrimRight(remedy, ". ")
	return remedy + ". Then " + then
}
