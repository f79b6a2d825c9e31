package agent

import (
	"context"
	"io"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/host"
	corebackup "github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// adminConf is the kubeconfig of the administrator, which control plane hosts have.
const adminConf = "/etc/kubernetes/admin.conf"

// backupDir is the directory of the credentials and pins of BackupStores.
const backupDir = "/etc/refit/backup"

// resumeBackups ends a backup that was interrupted. A broken one does not keep the agent from its
// upgrades.
func (a *Agent) resumeBackups(ctx context.Context) {
	a.backups = &backup.Manager{
		Dir: a.Settings.BackupsDir(), Machine: a.id.MachineID, Boot: a.id.BootID, Log: a.Log, Report: a.status.setBackup, Point: point,
		Environment: backup.Environment{
			Objects: BackupCluster(a.Version),
			Pins:    func() (etcdbackup.Pins, error) { return backup.ReadPins(backup.PinsFile) },
			Dial:    dialMember, OpenStore: store.Open, Space: host.Free,
			HostFiles: func(to io.Writer) error { return backup.WriteHostFiles(to, "/") },
			EtcdImage: a.etcdImage, Hops: a.rehearsalHops, Unpin: a.unpinHops, Runner: a.rehearsalRunner, Leftovers: a.rehearsalLeft,
			Record: func(added corebackup.Records) error { return backup.AddRecords(a.Settings.BackupRecords(), added) },
			Forget: func(id corebackup.ID) error { return backup.ForgetRecord(a.Settings.BackupRecords(), id) },
		},
	}
	if err := a.backups.Resume(ctx); err != nil {
		a.Log.Error("cannot read the last backup", "error", err)
	}
}

// BackupCluster reads what backups need of the cluster, with the administrator's kubeconfig.
func BackupCluster(version string) *backup.Cluster {
	return &backup.Cluster{
		Kubeconfig: adminConf, CredentialsDir: backupDir, PinsFile: backup.PinsFile, Node: kubeletNode(cluster.Kubeconfig), UserAgent: "refit-agent/" + version,
	}
}

// kubeletNode returns the name of the Node of this host according to the kubelet's kubeconfig,
// which may differ from that of the host.
func kubeletNode(kubeconfig string) string {
	if client, err := cluster.Connect(kubeconfig, ""); err == nil {
		return client.NodeName()
	}
	return hostName()
}

// dialMember connects to the etcd member on this host, or to a follower of an external etcd.
func dialMember(ctx context.Context) (backup.Member, error) {
	if !steps.HasEtcd() {
		config, err := steps.ExternalEtcdConfig()
		if err != nil {
			return nil, err
		}
		return etcd.DialFollower(ctx, config)
	}
	config, err := steps.EtcdConfig()
	if err != nil {
		return nil, err
	}
	return etcd.Dial(config)
}

// etcdImage returns an image of etcd that restores a backup of this version in a drill.
func (a *Agent) etcdImage(ctx context.Context, version string) (string, error) {
	if steps.HasEtcd() {
		return steps.EtcdImage(version)
	}
	return steps.ExternalEtcdImage(ctx, a.Settings.CRISocket, version)
}

// openBackup creates the slot of the backup that an order is for, before the order is remembered: a
// kill in between repeats the order instead of losing the backup.
func (a *Agent) openBackup(spec *refitv1alpha1.NodeUpgradeSpec) (*backup.Attempt, error) {
	if spec.Permit != refitv1alpha1.PermitBackup {
		return nil, nil //nolint:nilnil // most orders are for no backup
	}
	defer a.awaitStopped()()
	return a.backups.Open(spec.Backup)
}

// endBackup stops the backup that runs, if there is one.
func (a *Agent) endBackup(why string) {
	defer a.awaitStopped()()
	a.backups.Stop(why)
}

// awaitStopped reports that the agent waits for the end of a backup, which removes what it created.
// The returned function ends the report.
func (a *Agent) awaitStopped() func() {
	if !a.backups.Running() {
		return func() {}
	}
	a.status.setWaiting("stopping a backup")
	return func() { a.status.setWaiting("") }
}

// runBackup starts a backup, unless an upgrade has changed this host: etcd and the API server of
// such a host may restart at any time.
func (a *Agent) runBackup(ctx context.Context, attempt *backup.Attempt) {
	if attempt == nil {
		return
	}
	external, err := a.hasExternalEtcd(ctx)
	switch {
	case err != nil && steps.HasControlPlane() && !steps.HasEtcd():
		a.backups.Refuse(attempt, node.Transient("EtcdUnknown", err, "Refit tries again; check that this host reaches the API",
			"cannot read in kubeadm's configuration whether etcd is external"))
	case !steps.HasControlPlane() || !steps.HasEtcd() && !external:
		a.backups.Refuse(attempt, node.ManualIntervention("EtcdMissing", nil, "Check the manifest of etcd on this host: `ls /etc/kubernetes/manifests`",
			"no etcd member runs on this host, and its API server has no external etcd"))
	case a.partlyChanged():
		a.backups.Refuse(attempt, node.Transient(node.RefusedBusy, nil, "Refit tries another node", "an upgrade has changed this host and is unfinished"))
	default:
		a.backups.Run(ctx, attempt)
	}
}

// hasExternalEtcd reports whether the API server on this host uses an external etcd, as the
// NodeReport does.
func (a *Agent) hasExternalEtcd(ctx context.Context) (bool, error) {
	config, err := steps.ExternalEtcdConfig()
	if err != nil || steps.HasEtcd() {
		return false, nil //nolint:nilerr // it has none
	}
	return report.HasExternalEtcd(ctx, a.client, config)
}

// partlyChanged reports whether an upgrade has changed this host and is unfinished.
func (a *Agent) partlyChanged() bool {
	return a.state.Unresumed != nil || a.state.Open != "" && a.upgrade != nil && node.Read(a.upgrade.journal.Records()).Changed()
}

// stopBackup ends the backup before a move that disrupts the host: upgrades and rollbacks come
// first.
func (a *Agent) stopBackup() {
	move := node.Next(a.upgrade.journal.Records())
	if move.Kind == node.MoveUndo || move.Kind == node.MoveRun && move.Step.Disrupts {
		a.endBackup("an upgrade disrupts this host: " + move.Step.Name)
	}
}

// setBackup sets the status of the last backup.
func (w *statusWriter) setBackup(status *refitv1alpha1.NodeBackupStatus) {
	w.change(func() { w.backup = status })
}

// sameBackup reports whether two statuses are those of the same backup in the same phase.
func sameBackup(a, b *refitv1alpha1.NodeBackupStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Attempt == b.Attempt && a.Phase == b.Phase
}
