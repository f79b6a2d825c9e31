package progress

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// NewBackups lists backups, the newest first. stores are the BackupStores that are known.
func NewBackups(cluster string, all []refitv1alpha1.EtcdBackup, stores []refitv1alpha1.BackupStore) *cliv1alpha1.Backups {
	out := &cliv1alpha1.Backups{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindBackups, Cluster: cluster, Backups: []cliv1alpha1.BackupState{},
	}
	for i := range all {
		state := newBackupState(&all[i], nil)
		state.Identity = identityOf(state.Store, stores)
		out.Backups = append(out.Backups, state)
	}
	slices.SortFunc(out.Backups, func(a, b cliv1alpha1.BackupState) int {
		return cmp.Or(b.CreationTime.Compare(a.CreationTime), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// identityOf returns whether the identity of a store is proven.
func identityOf(name string, stores []refitv1alpha1.BackupStore) *cliv1alpha1.BackupIdentity {
	at := slices.IndexFunc(stores, func(s refitv1alpha1.BackupStore) bool { return s.Name == name })
	if at < 0 {
		return nil
	}
	proven := backup.IdentityProven(&stores[at])
	return &cliv1alpha1.BackupIdentity{Proven: proven.Status == metav1.ConditionTrue, Message: proven.Message}
}

// ShowBackup describes a backup in one of the BackupStores that are known.
func ShowBackup(cluster string, b *refitv1alpha1.EtcdBackup, order *refitv1alpha1.NodeUpgrade, stores []refitv1alpha1.BackupStore) *cliv1alpha1.Backup {
	out := NewBackup(cluster, b, order, nil)
	out.Identity = identityOf(out.Store, stores)
	return out
}

// NewBackup describes the progress of a backup. The order is that of its node, or nil; others are
// all backups, for the expected duration.
func NewBackup(cluster string, b *refitv1alpha1.EtcdBackup, order *refitv1alpha1.NodeUpgrade, others []refitv1alpha1.EtcdBackup) *cliv1alpha1.Backup {
	out := &cliv1alpha1.Backup{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindBackup, Cluster: cluster, BackupState: newBackupState(b, order),
	}
	if !out.Ended {
		out.ExpectedSeconds = int64(expectedDuration(b, others).Seconds())
	}
	return out
}

func newBackupState(b *refitv1alpha1.EtcdBackup, order *refitv1alpha1.NodeUpgrade) cliv1alpha1.BackupState {
	s := &b.Status
	out := cliv1alpha1.BackupState{
		Name: b.Name, UID: string(b.UID), Store: b.Spec.Store, Operation: b.Spec.Operation, Ended: b.HasEnded(),
		CreationTime: b.CreationTimestamp.UTC(), Node: s.Node, Attempt: s.Attempt,
		Revision: s.Revision, Keys: s.Keys, Hash: s.Hash, Size: s.Size, Object: s.Object, Digest: s.Digest,
		Verified: timeOf(s.ReadBack), Deleted: timeOf(s.Deleted),
		Drill: string(cmp.Or(b.Spec.Drill, refitv1alpha1.DrillNone)), Drilled: timeOf(s.Drilled), Rehearsed: s.Rehearsed, Error: s.Error,
	}
	for _, hop := range b.Spec.Hops {
		out.Hops = append(out.Hops, hop.Name)
	}
	out.State, out.Message = backupStateOf(b, &out)
	if order != nil && !out.Ended && order.Status.Backup != nil && order.Status.Backup.UID == b.UID && order.Status.Backup.Attempt == s.Attempt {
		out.Step = order.Status.Backup.Step
	}
	return out
}

func backupStateOf(b *refitv1alpha1.EtcdBackup, out *cliv1alpha1.BackupState) (state, message string) {
	ready := meta.FindStatusCondition(b.Status.Conditions, refitv1alpha1.ConditionReady)
	switch {
	case out.Ended && b.Status.ReadBack == nil:
		return cliv1alpha1.BackupFailed, ""
	case out.Ended && b.Status.Deleted != nil:
		return cliv1alpha1.BackupDeleted, ""
	case out.Ended && out.Findings() > 0:
		return cliv1alpha1.BackupFindings, ""
	case out.Ended && unproven(b):
		return cliv1alpha1.BackupUnproven, ""
	case out.Ended:
		return cliv1alpha1.BackupSucceeded, ""
	case ready == nil:
		return cliv1alpha1.BackupPending, ""
	case meta.IsStatusConditionTrue(b.Status.Conditions, refitv1alpha1.ConditionStalled):
		return cliv1alpha1.BackupStalled, ready.Message
	}
	return cliv1alpha1.BackupRunning, ready.Message
}

// unproven reports whether a stored backup lacks the drill that was requested, as with an agent of
// an earlier version, which ignores it.
func unproven(b *refitv1alpha1.EtcdBackup) bool {
	switch b.Spec.Drill {
	case refitv1alpha1.DrillRestore:
		return b.Status.Drilled == nil
	case refitv1alpha1.DrillRehearse:
		return b.Status.Drilled == nil || len(b.Status.Rehearsed) < len(b.Spec.Hops)
	case refitv1alpha1.DrillNone:
	}
	return false
}

// expectedDuration is how long the newest successful backup to the same store with the same drill
// took; 0 if there is none.
func expectedDuration(b *refitv1alpha1.EtcdBackup, others []refitv1alpha1.EtcdBackup) time.Duration {
	var newest time.Time
	var took time.Duration
	for i := range others {
		o := &others[i]
		if o.UID == b.UID || !o.HasEnded() || o.Status.ReadBack == nil || o.Spec.Store != b.Spec.Store ||
			o.Spec.Drill != b.Spec.Drill || len(o.Spec.Hops) != len(b.Spec.Hops) || !o.CreationTimestamp.After(newest) {
			continue
		}
		newest, took = o.CreationTimestamp.Time, completionTime(o).Sub(o.CreationTimestamp.Time)
	}
	return took
}

// completionTime is when the last part of a stored backup ended.
func completionTime(b *refitv1alpha1.EtcdBackup) time.Time {
	at := timeOf(b.Status.ReadBack)
	if drilled := timeOf(b.Status.Drilled); drilled.After(at) {
		at = drilled
	}
	for i := range b.Status.Rehearsed {
		if hop := b.Status.Rehearsed[i].At.Time; hop.After(at) {
			at = hop
		}
	}
	return at
}
