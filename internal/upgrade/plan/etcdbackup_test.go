package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// createBackup creates an EtcdBackup as the controller does: the API has one of each name.
func (w *world) createBackup(who *controller, request *BackupRequest) bool {
	exists := slices.ContainsFunc(w.backups, func(b *refitv1alpha1.EtcdBackup) bool { return b.Name == request.Name })
	if exists || who.epoch != w.op.Epoch || who.view.snapshot.Operation.Generation != w.op.Generation || w.op.Ended {
		return false
	}
	w.require(!w.op.Spec.Paused && !w.op.Spec.Aborted, "a backup is created while the operation is held")
	var newest *cluster.Backup
	for _, b := range observedBackups(w.backups) {
		if b.Hop == request.Hop && (newest == nil || b.Number > newest.Number) {
			newest = &b
		}
	}
	running := newest != nil && !newest.Status.HasEnded()
	w.require(!running || w.restored || !who.fresh, "a second backup is created while one runs")
	w.storeBackup(request)
	return true
}

// storeBackup stores an EtcdBackup in the API.
func (w *world) storeBackup(request *BackupRequest) {
	w.joined++ // for a UID of its own
	b := &refitv1alpha1.EtcdBackup{Spec: request.Spec}
	b.Name, b.UID, b.CreationTimestamp = request.Name, types.UID(fmt.Sprintf("backup-%d", w.joined)), metav1.NewTime(w.now)
	b.Labels = map[string]string{
		refitv1alpha1.LabelHop: request.Hop, refitv1alpha1.LabelNumber: strconv.FormatInt(request.Number, 10),
		refitv1alpha1.LabelRetry: strconv.FormatInt(request.Retry, 10),
	}
	w.backups = append(slices.Clone(w.backups), b)
}

// deleteBackup deletes an EtcdBackup, and the controller of EtcdBackups withdraws its order.
func (w *world) deleteBackup(name, uid string) bool {
	at := slices.IndexFunc(w.backups, func(b *refitv1alpha1.EtcdBackup) bool { return b.Name == name && string(b.UID) == uid })
	if at < 0 {
		return false
	}
	w.withdrawBackup(w.backups[at])
	w.backups = slices.Delete(slices.Clone(w.backups), at, at+1)
	return true
}

// withdrawBackup withdraws the order of an EtcdBackup.
func (w *world) withdrawBackup(b *refitv1alpha1.EtcdBackup) {
	for _, m := range w.machines {
		if m.upgrade != nil && m.upgrade.Spec.Permit == refitv1alpha1.PermitBackup && m.upgrade.Spec.Backup.UID == b.UID {
			m.writeUpgrade(func(u *cluster.Upgrade) { u.Spec, u.Generation = orders.Held(&u.Spec), u.Generation+1 })
		}
	}
}

// observedBackups is how a Snapshot has EtcdBackups.
func observedBackups(all []*refitv1alpha1.EtcdBackup) []cluster.Backup {
	var out []cluster.Backup
	for _, b := range all {
		number, _ := strconv.ParseInt(b.Labels[refitv1alpha1.LabelNumber], 10, 64)
		retry, _ := strconv.ParseInt(b.Labels[refitv1alpha1.LabelRetry], 10, 64)
		out = append(out, cluster.Backup{
			Name: b.Name, UID: string(b.UID), Hop: b.Labels[refitv1alpha1.LabelHop], Number: number, Retry: retry,
			CreatedAt: b.CreationTimestamp.Time, Spec: b.Spec, Status: b.Status,
		})
	}
	return out
}

// runBackups is the controller of EtcdBackups.
func (w *world) runBackups() {
	for _, b := range w.backups {
		w.noteProof(b) // a waiver may have changed what it proves
	}
	if !w.reachable() || w.backupsStall {
		return
	}
	for i, was := range slices.Clone(w.backups) {
		b := was.DeepCopy()
		action := etcdbackup.Next(&etcdbackup.Observation{Backup: b, Nodes: w.serverNodes(), Active: w.activeNodes(), Now: w.now})
		switch action.Kind {
		case etcdbackup.RequestReport:
			for _, n := range w.serverNodes() {
				if etcdbackup.ReportDue(&n, w.now) {
					w.machine(n.Name).reportRequest = max(n.ReportRequest, w.now.Unix())
				}
			}
		case etcdbackup.GiveOrder:
			w.note("etcd is backed up on %s", action.Node.Name)
			w.orderBackup(w.machine(action.Node.Name), etcdbackup.Ref(b))
		case etcdbackup.Withdraw:
			w.withdrawBackup(b)
		}
		etcdbackup.Apply(b, &action, w.now)
		if !reflect.DeepEqual(b.Status, was.Status) {
			w.backups = slices.Clone(w.backups)
			w.backups[i] = b
		}
		w.noteProof(b)
	}
}

// noteProof records which ClusterReleases a backup proves, and when it was found.
func (w *world) noteProof(b *refitv1alpha1.EtcdBackup) {
	ready := meta.FindStatusCondition(b.Status.Conditions, refitv1alpha1.ConditionReady)
	required := w.op.Spec.Backup
	if !b.HasEnded() || b.Status.ReadBack == nil || b.Status.Drilled == nil || required == nil {
		return
	}
	if required.Drill == refitv1alpha1.DrillRestore {
		w.provenSince["kubernetes-"+b.Labels[refitv1alpha1.LabelHop]] = ready.LastTransitionTime.Time
	}
	for i := range b.Status.Rehearsed {
		hop := &b.Status.Rehearsed[i]
		if open, _ := policy.BlockingFindings(&w.op.Spec, hop); len(open) > 0 {
			return
		}
		w.provenSince[hop.Release.Name] = ready.LastTransitionTime.Time
	}
}

func (w *world) serverNodes() []cluster.Node {
	var out []cluster.Node
	for _, m := range w.machines {
		if m.controlPlane {
			out = append(out, cluster.Node{
				Name: m.name, UID: m.uid, ControlPlane: true, Ready: yesNo(m.ready), Report: m.report, ReportRequest: m.reportRequest, Upgrade: m.upgrade,
			})
		}
	}
	return out
}

func (w *world) activeNodes() map[string]bool {
	out := map[string]bool{}
	for _, name := range w.op.Active {
		out[name] = true
	}
	return out
}

// drill stores, reads and restores a backup that the operation relies on.
func (w *world) drill(m *machine, status *refitv1alpha1.NodeBackupStatus) {
	if w.backup(status.UID) == nil {
		return
	}
	now := metav1.NewTime(m.clock(w))
	if w.storeFails {
		status.Phase = refitv1alpha1.BackupFailed
		status.Error = &refitv1alpha1.BackupError{
			Class: refitv1alpha1.FailureManualIntervention, Reason: "StoreFailed", Message: "the store refuses the object", Remedy: "Free space in the store", At: now,
		}
		return
	}
	status.Uploaded, status.ReadBack, status.Drilled = &now, &now, &now
}

// rehearse rehearses the hops of a backup on the restored data.
func (w *world) rehearse(m *machine, status *refitv1alpha1.NodeBackupStatus) {
	b := w.backup(status.UID)
	if b == nil {
		return
	}
	for _, release := range b.Spec.Hops {
		status.Rehearsed = append(status.Rehearsed, refitv1alpha1.RehearsedHop{
			Release: release, Kubernetes: w.payload(release.Name).Kubernetes, At: metav1.NewTime(m.clock(w)), Findings: w.findings,
		})
		if slices.ContainsFunc(w.findings, func(f refitv1alpha1.RehearsalFinding) bool { return !f.Unknown }) {
			return
		}
	}
}

// backup returns the EtcdBackup with a UID, nil if there is none.
func (w *world) backup(uid types.UID) *refitv1alpha1.EtcdBackup {
	for _, b := range w.backups {
		if b.UID == uid {
			return b
		}
	}
	return nil
}

// checkBackupProven checks that a backup of the hop was proven before its first control plane
// change (I11), at most some time ago.
func (w *world) checkBackupProven(next *machine, within time.Duration) {
	spec := policy.Defaulted(w.op.Spec)
	if policy.BackupRequired(&spec) == nil || next.upgrade == nil || w.changed(next) {
		return
	}
	release := next.upgrade.Spec.Release.Name
	target := w.parse(w.payload(release).Kubernetes)
	for _, m := range w.machines {
		if m.controlPlane && !w.parse(m.apiServer.version).Before(target) || w.changed(m) {
			return // the hop has started
		}
	}
	since, proven := w.provenSince[release]
	w.require(proven, "I11: %s is claimed or upgraded to %s, and no backup is proven", next.name, release)
	w.require(!proven || w.now.Sub(since) <= within, "I11: %s is claimed for %s, and the backup was proven at %s", next.name, release, clock(since))
}

// What happens to backups.

func storeFails(w *world) bool {
	if w.storeFails || w.op.Spec.Backup == nil {
		return false
	}
	w.note("! the BackupStore refuses every object")
	w.storeFails = true
	return true
}

func rehearsalWillFail(w *world) bool {
	if len(w.findings) > 0 || w.op.Spec.Backup == nil {
		return false
	}
	w.findings = []refitv1alpha1.RehearsalFinding{flagFinding}
	if w.dice.IntN(2) == 0 {
		w.findings = []refitv1alpha1.RehearsalFinding{kmsFinding}
	}
	return true
}

var (
	flagFinding = refitv1alpha1.RehearsalFinding{
		Reason: "FlagUnknown", Object: "--feature-gates", Message: "the API server does not know the flag", Remedy: "Remove the flag from the kubeadm configuration",
	}
	kmsFinding = refitv1alpha1.RehearsalFinding{
		Reason: "KMSUnavailable", Object: "unix:///run/kms.sock", Message: "the socket is not on this host", Remedy: "Start the plugin on this host", Unknown: true,
	}
)

func backupDeleted(w *world) bool {
	if len(w.backups) == 0 {
		return false
	}
	b := w.backups[w.dice.IntN(len(w.backups))]
	w.note("! EtcdBackup %s is deleted", b.Name)
	return w.deleteBackup(b.Name, string(b.UID))
}

// backupForged is someone who creates an EtcdBackup as the operation would, for any hop. Admission
// denies it unless its policies are missing.
func backupForged(w *world) bool {
	if w.op.Spec.Backup == nil || len(w.releases) == 0 {
		return false
	}
	release := w.releases[w.dice.IntN(len(w.releases))]
	number := int64(1)
	for _, b := range observedBackups(w.backups) {
		if b.Hop == release.Payload.Kubernetes {
			number = max(number, b.Number+1)
		}
	}
	if w.dice.IntN(4) == 0 {
		number = cluster.MaxBackupNumber
	}
	if number > cluster.MaxBackupNumber { // it would not count
		return false
	}
	w.forgeBackup(release, number, []refitv1alpha1.Drill{refitv1alpha1.DrillNone, refitv1alpha1.DrillRestore, refitv1alpha1.DrillRehearse}[w.dice.IntN(3)])
	return true
}

func (w *world) forgeBackup(release cluster.Release, number int64, drill refitv1alpha1.Drill) {
	hop := release.Payload.Kubernetes
	request := BackupRequest{
		Name: cluster.BackupName(&w.op.Operation, hop, number), Hop: hop, Number: number, Retry: w.op.Spec.Retry,
		Spec: refitv1alpha1.EtcdBackupSpec{Store: w.op.Spec.Backup.Store, Operation: w.op.Name, Drill: drill},
	}
	if slices.ContainsFunc(w.backups, func(b *refitv1alpha1.EtcdBackup) bool { return b.Name == request.Name }) {
		return
	}
	if drill == refitv1alpha1.DrillRehearse {
		request.Spec.Hops = []refitv1alpha1.ReleaseRef{{Name: release.Name, Digest: release.Digest}}
	}
	w.note("! someone creates EtcdBackup %s in the name of the operation", request.Name)
	w.storeBackup(&request)
}

// backupsStall stalls the controller of EtcdBackups.
func backupsStall(w *world) bool {
	if w.backupsStall {
		return false
	}
	w.note("! the controller of EtcdBackups stalls")
	w.backupsStall = true
	return true
}

// fixBackup is a user who fixes what a backup waits for, or why it failed.
func (w *world) fixBackup(wait *Wait) {
	switch wait.Reason {
	case refitv1alpha1.ReasonBackupPending:
		if w.backupsStall {
			w.note("* the user restarts the controller of EtcdBackups")
			w.backupsStall = false
			return
		}
		for _, m := range w.machines {
			if m.controlPlane && !w.abandoned(m) {
				w.fixHost(m)
			}
		}
		w.fixControlPlane(nil)
	case refitv1alpha1.ReasonRehearsalFailed:
		unknown := slices.ContainsFunc(w.findings, func(f refitv1alpha1.RehearsalFinding) bool { return f.Unknown })
		if unknown && (w.dice == nil || w.dice.IntN(2) == 0) && !policy.WaivedAnywhere(&w.op.Spec, policy.CheckRehearsal) {
			w.waiveUnknown()
			return
		}
		w.note("* the user fixes what the rehearsal found")
		w.findings = nil
		w.retry()
	default:
		for _, b := range observedBackups(w.backups) {
			if b.Number == cluster.MaxBackupNumber {
				w.note("* the user deletes EtcdBackup %s", b.Name)
				w.deleteBackup(b.Name, b.UID)
			}
		}
		w.note("* the user fixes the BackupStore")
		w.storeFails = false
		w.retry()
	}
}

func (w *world) waiveUnknown() {
	w.meaning++
	w.edit(func(spec *refitv1alpha1.ClusterUpgradeSpec) {
		spec.Waivers = append(slices.Clone(spec.Waivers), refitv1alpha1.Waiver{
			Check: policy.CheckRehearsal, Object: kmsFinding.Object, Reason: "the plugin runs on the other hosts",
		})
	}, "the user waives %s", policy.CheckRehearsal)
}
