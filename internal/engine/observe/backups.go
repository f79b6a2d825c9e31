package observe

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// backupsPerPage is small: an EtcdBackup may list the findings of several hops.
const backupsPerPage = 50

// readBackupStores reads the BackupStores.
func (obs *observation) readBackupStores(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "backupstores"
	stores := rawLister[refitv1alpha1.BackupStore](obs.raw, refitPath(resource), "")
	return pages(ctx, list(refitResource(resource)), metav1.ListOptions{Limit: backupsPerPage}, stores,
		func(page *rawPage[refitv1alpha1.BackupStore]) error {
			obs.stores = append(obs.stores, page.Items...)
			for i := range page.Items {
				obs.snapshot.BackupStores = append(obs.snapshot.BackupStores, backupStoreOf(&page.Items[i]))
			}
			return nil
		})
}

// readBackups reads the EtcdBackups of operations, and sets those of the operation if there is one.
func (obs *observation) readBackups(ctx context.Context) error {
	if obs.refit != nil {
		return obs.refit
	}
	const resource = "etcdbackups"
	options := metav1.ListOptions{Limit: backupsPerPage, LabelSelector: refitv1alpha1.LabelOperation}
	backups := rawLister[refitv1alpha1.EtcdBackup](obs.raw, refitPath(resource), "")
	err := pages(ctx, list(refitResource(resource)), options, backups, func(page *rawPage[refitv1alpha1.EtcdBackup]) error {
		obs.backups = append(obs.backups, page.Items...)
		return nil
	})
	if err != nil || obs.snapshot.Operation == nil {
		return err
	}
	for i := range obs.backups {
		if b, of := Backup(&obs.backups[i], obs.snapshot.Operation); of {
			obs.snapshot.Backups = append(obs.snapshot.Backups, b)
		}
	}
	return nil
}

func backupStoreOf(s *refitv1alpha1.BackupStore) cluster.BackupStore {
	out := cluster.BackupStore{Name: s.Name, IdentityProven: cluster.No}
	if backup.IdentityProven(s).Status == metav1.ConditionTrue {
		out.IdentityProven = cluster.Yes
	}
	if s.Spec.Path != nil {
		out.Directory = s.Spec.Path.Directory
	}
	return out
}

// Backup returns an EtcdBackup of an operation. One with labels that the operation does not write
// is none: users may create EtcdBackups, and admission may be off.
func Backup(b *refitv1alpha1.EtcdBackup, op *cluster.Operation) (out cluster.Backup, of bool) {
	hop, number, retry := b.Labels[refitv1alpha1.LabelHop], count(b, refitv1alpha1.LabelNumber), count(b, refitv1alpha1.LabelRetry)
	counted := number >= 1 && number <= cluster.MaxBackupNumber && retry >= 0 && retry <= op.Spec.Retry
	if b.Labels[refitv1alpha1.LabelOperation] != op.UID || b.Spec.Operation != op.Name || !counted || b.Name != cluster.BackupName(op, hop, number) {
		return cluster.Backup{}, false
	}
	return cluster.Backup{
		Name: b.Name, UID: string(b.UID), Hop: hop, Number: number, Retry: retry,
		CreatedAt: b.CreationTimestamp.UTC(), Deleting: !b.DeletionTimestamp.IsZero(), Spec: b.Spec, Status: b.Status,
	}, true
}

// count returns the number in a label, -1 if it has none.
func count(b *refitv1alpha1.EtcdBackup, label string) int64 {
	number, err := strconv.ParseInt(b.Labels[label], 10, 64)
	if err != nil {
		return -1
	}
	return number
}

// mergeBackups merges the watched BackupStores and the EtcdBackups of the operation with those of
// the last full read. A cluster with older CRDs has none.
func (w *World) mergeBackups(s *cluster.Snapshot) {
	s.BackupStores, s.Backups = nil, nil
	stores, err := each[refitv1alpha1.BackupStore](w.watched)
	backups, also := each[refitv1alpha1.EtcdBackup](w.watched)
	if err != nil || also != nil {
		return
	}
	for _, store := range merge(w, stores, w.last.stores) {
		s.BackupStores = append(s.BackupStores, backupStoreOf(store))
	}
	for _, b := range merge(w, backups, w.last.backups) {
		if out, of := Backup(b, s.Operation); of {
			s.Backups = append(s.Backups, out)
		}
	}
	slices.SortFunc(s.BackupStores, func(a, b cluster.BackupStore) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Backups, func(a, b cluster.Backup) int { return cmp.Compare(a.Name, b.Name) })
}

// merge returns the newer of each watched and each read object. One that only the full read has is
// gone since, or the watch does not have it yet: the cluster is read again.
func merge[T any, P interface {
	*T
	metav1.Object
}](w *World, watched []P, read []T) []P {
	left := make(map[string]P, len(read))
	for i := range read {
		left[P(&read[i]).GetName()] = &read[i]
	}
	out := slices.Clone(watched)
	for i, object := range out {
		if other := left[object.GetName()]; other != nil && Older(object.GetResourceVersion(), other.GetResourceVersion()) {
			out[i] = other
		}
		delete(left, object.GetName())
	}
	w.changed = w.changed || len(left) > 0 && time.Since(w.lastAt) > max(watchLag, 3*w.took)
	return slices.AppendSeq(out, maps.Values(left))
}
