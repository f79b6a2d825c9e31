package agents

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// startBackup starts the backup of an order beside whatever else the host does.
func (h *host) startBackup(spec *refitv1alpha1.NodeUpgradeSpec) {
	if spec.Permit != refitv1alpha1.PermitBackup {
		return
	}
	ref := spec.Backup
	h.backup = &refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupRunning}
	h.agents.begin(func(ctx context.Context) {
		result := h.agents.takeBackup(ctx, h.name, ref)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.backup.IsOf(ref) {
			h.backup = &result
			status := node.Read(h.journal).Status()
			status.ObservedSequence = h.memory.Sequence
			h.writeStatus(status)
		}
	})
}

func (a *Agents) takeBackup(ctx context.Context, name string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
	if a.options.TakeBackup != nil {
		return a.options.TakeBackup(ctx, name, ref)
	}
	now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
	out := refitv1alpha1.NodeBackupStatus{UID: ref.UID, Attempt: ref.Attempt, Phase: refitv1alpha1.BackupSucceeded}
	out.Uploaded, out.ReadBack = &now, &now
	return out
}
