package restore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// resume continues a confirmed restore. Its snapshot is fetched again if it is gone.
func (d *Desk) resume(ctx context.Context, plan restore.Plan, request Request) (Prepared, error) {
	if !d.continues(plan, request) {
		return Prepared{}, fmt.Errorf("the restore %s was started on this host: continue it with `refit-agent restore --run %s --yes`, "+
			"or cancel it with `refit-agent restore --cancel --yes`", plan, plan.Run)
	}
	records, err := journal.Read(d.journalFile(plan.Run), d.MachineID)
	if err != nil {
		return Prepared{}, err
	}
	if restore.Canceling(records) {
		return Prepared{}, errors.New("the restore is being canceled on this host: run `refit-agent restore --cancel --yes` again")
	}
	d.For(plan.Member)
	if err := d.stillApplies(ctx, plan, records, request.Waived); err != nil {
		return Prepared{}, err
	}
	for _, name := range request.After {
		if !slices.Contains(plan.After, name) && name != plan.Member {
			plan.After = append(plan.After, name)
		}
	}
	p := Prepared{Restore: d.restore(plan), Continues: true}
	if exists(d.Snapshot(plan.Run)) || !restore.NeedsSnapshot(plan.Situation, records) {
		return p, nil
	}
	request.Backup, request.Digest = plan.Backup, plan.Digest
	source, err := d.source(request)
	if err != nil {
		return Prepared{}, err
	}
	_, err = source.Fetch(ctx, d.Snapshot(plan.Run))
	return p, err
}

// continues reports whether a request is for the plan of the open restore.
func (d *Desk) continues(plan restore.Plan, request Request) bool {
	id := request.Backup
	for _, r := range d.Records.Backups {
		if r.Name == request.Backup {
			id = r.ID()
			break
		}
	}
	return (request.Run == 0 || request.Run == plan.Run) && (id == "" || id == plan.Backup) && (request.Digest == "" || request.Digest == plan.Digest)
}

// stillApplies returns an error if etcd serves again since the plan was confirmed, unless the
// restore has stopped it.
func (d *Desk) stillApplies(ctx context.Context, plan restore.Plan, records []node.Record, waived []string) error {
	if restore.Stopping(records) {
		return nil
	}
	member, err := ReadMember(filepath.Join(d.Manifests, kubeadm.Etcd+".yaml"))
	if err != nil {
		return err
	}
	o := restore.Observation{
		Now: d.Now, Run: plan.Run, Waived: waived, Backup: restore.Backup{ClusterUID: plan.ClusterUID, Revision: plan.Revision, Members: plan.Members},
	}
	if slices.Contains(plan.Options, "--waive="+restore.EtcdServes) {
		o.Waived = append(slices.Clone(waived), restore.EtcdServes)
	}
	if err := member.Observe(ctx, d.Machine, &o); err != nil {
		return err
	}
	now := restore.Decide(o)
	serves := slices.ContainsFunc(now.Refusals, func(r restore.Refusal) bool { return r.Reason == restore.EtcdServes })
	if serves || now.Situation != plan.Situation {
		return errors.New("etcd serves again since the restore was confirmed: cancel it with `refit-agent restore --cancel --yes`, then begin again")
	}
	return nil
}
