package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// backupNotProven holds the first control plane change of a hop. The stages Backup and Rehearsal
// report what it waits for.
func backupNotProven(d *deciding, _ *cluster.Node, hop int) *Wait {
	if d.needsBackup(hop) && d.backupState(d.backupOf(hop), hop) != backupProven {
		return &Wait{}
	}
	return nil
}

// backupLost releases a claimed control plane node whose backup is not proven any more. The age of
// a backup counts only for the claim: a drain takes its time.
func backupLost(d *deciding, n *cluster.Node, hop int) *Wait {
	if !n.ControlPlane || d.changing(n) || !d.needsBackup(hop) {
		return nil
	}
	switch d.backupState(d.backupOf(hop), hop) {
	case backupProven, backupStale:
		return nil
	case backupMissing, backupOutdated, backupRunning, backupFailed, backupRefuted:
	}
	return &Wait{
		Reason: refitv1alpha1.ReasonBackupPending, Node: n.Name,
		Message: n.Name + " waits for a proven backup of etcd",
		Remedy:  "The upgrade continues after the backup; its progress: `refit backup list`",
	}
}
