package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/agent/restore"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	corebackup "github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	core "github.com/refit-dev/refit/internal/upgrade/restore"
)

// finishRestore completes a restore of etcd before anything else changes the host.
func (a *Agent) finishRestore(ctx context.Context) error {
	site, err := restore.NewSite(a.Settings, steps.ManifestsDir)
	if err != nil {
		return err
	}
	if err := site.RemoveUnconfirmed(); err != nil {
		a.Log.Warn("cannot remove decrypted snapshots of restores that did not start", "error", err)
	}
	plan, open, err := site.Open()
	if err != nil || !open {
		return err
	}
	progress := func(message string) {
		a.Log.Info("restoring etcd", "progress", message)
		a.showRestore()
	}
	defer a.showRestore()
	machine := restoreHost(a.Settings, a.systemd, a.Version, a.Log, progress).For(plan.Member)
	return restore.Finish(ctx, &restore.Restore{Site: site, Machine: machine, Progress: progress, Timeouts: restore.DefaultTimeouts()}, a.Log)
}

// restoreHost is this host, as a restore changes it.
func restoreHost(s settings.Settings, systemd steps.Services, version string, log *slog.Logger, progress func(string)) *restore.Host {
	pods := func(name string) restore.Pods {
		return staticPods{&steps.Host{
			Settings: s, Systemd: systemd, Log: log, ReportWait: func(string) {}, Upgrade: node.Upgrade{NodeName: name},
			Effect: func(_ string, change func() error) error { return change() },
		}}
	}
	host := &restore.Host{Pods: pods, Settings: s, Cluster: BackupCluster(version), Progress: progress}
	return host.For("") // until the name of the member is known
}

// staticPods are the static pods of this host.
type staticPods struct{ *steps.Host }

func (staticPods) APIServerReady(ctx context.Context) error {
	server, err := steps.ProbeAPIServer(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("kube-apiserver on this host does not serve: %w", err)
	case !server.Ready:
		return errors.New("kube-apiserver on this host is not ready: /readyz does not return ok")
	}
	return nil
}

// recordInterval is the interval between two records of the last backups. The host that takes a
// backup records it at once.
const recordInterval = time.Minute

// recordBackups keeps the records of the last backups on a control plane host.
func (a *Agent) recordBackups(ctx context.Context) {
	ticker := time.NewTicker(recordInterval)
	defer ticker.Stop()
	for {
		if steps.HasControlPlane() {
			if err := BackupCluster(a.Version).Record(ctx, a.Settings.BackupRecords()); err != nil && ctx.Err() == nil {
				a.Log.Info("cannot record the last backups on this host; the agent tries again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// RestoreDesk prepares restores on this host. With lock, no agent may run meanwhile.
func RestoreDesk(ctx context.Context, s settings.Settings, version string, log *slog.Logger, lock bool, progress func(string)) (*restore.Desk, func(), error) {
	site, err := restore.NewSite(s, steps.ManifestsDir)
	if err != nil {
		return nil, nil, err
	}
	records, err := BackupRecords(s)
	if err != nil {
		return nil, nil, err
	}
	var locked *host.Locked
	if lock {
		if err := durable.MkdirAll(s.StateDir, 0o700); err != nil {
			return nil, nil, err
		}
		if locked, err = lockStopped(s); err != nil {
			return nil, nil, err
		}
	}
	systemd, err := host.ConnectSystemd(ctx)
	if err != nil {
		return nil, nil, err
	}
	machine := restoreHost(s, systemd, version, log, progress)
	desk := &restore.Desk{
		BackedUp: backup.PathsOf,
		Site:     site, Machine: machine, For: func(member string) { machine.For(member) }, Records: records, CA: steps.ClusterCA(),
		Open: func(spec *refitv1alpha1.BackupStoreSpec) (enginebackup.Target, error) {
			return backup.OpenWithoutAPI(spec, backup.PinsFile, backupDir)
		},
		Progress: progress, Now: time.Now(), Exclusive: lock, Point: point, HostName: hostName(),
	}
	return desk, func() {
		systemd.Close()
		if locked != nil {
			_ = locked.Close()
		}
	}, nil
}

// hostName returns the name of the etcd member of this host, which is that of the Node, or the name
// of the host, from which kubeadm derives both.
func hostName() string {
	if member, err := restore.ReadMember(filepath.Join(steps.ManifestsDir, kubeadm.Etcd+".yaml")); err == nil {
		return member.Name
	}
	name, _ := os.Hostname() // an unknown host gets shared files only
	return strings.ToLower(name)
}

// RestoreInProgress returns the open restore of this host, or nil.
func RestoreInProgress(s settings.Settings) (*restore.InProgress, error) {
	site, err := restore.NewSite(s, steps.ManifestsDir)
	if err != nil {
		return nil, err
	}
	return site.InProgress()
}

// BackupRecords are the backups that this host has recorded.
func BackupRecords(s settings.Settings) (corebackup.Records, error) {
	return backup.ReadRecords(s.BackupRecords())
}

// RestoreHost returns what the agent knows of this host for a restore.
func RestoreHost(s settings.Settings) (core.Host, error) {
	status, err := Status(s)
	if err != nil || status.State == nil {
		return core.Host{}, err
	}
	known := core.Host{OpenUpgrade: status.Host.Open != "" && status.State.Changed() || status.Host.Unresumed != nil}
	if finished(status.State) {
		known.Upgraded, known.UpgradedAt = status.State.Upgrade.To, status.State.FinishedAt
	}
	return known, nil
}
