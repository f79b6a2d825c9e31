package backups

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Identity is where the commands of a restore read the age identity on their hosts.
const Identity = "/root/refit-backup.key"

// Restorable is a cluster whose etcd is restored: *operations.Cluster.
type Restorable interface {
	EtcdBackup(ctx context.Context, name string) (*refitv1alpha1.EtcdBackup, error)
	BackupStore(ctx context.Context, name string) (*refitv1alpha1.BackupStore, error)
	EtcdMembers(ctx context.Context) (ready, unready []string, err error)
}

// Restore returns how etcd of a cluster gets the data of a backup back. It changes nothing: the
// commands do, on their hosts.
func Restore(ctx context.Context, from Restorable, cluster, name string, now time.Time) (*cliv1alpha1.Restore, error) {
	b, err := from.EtcdBackup(ctx, name)
	if err != nil {
		return nil, err
	}
	if b.Status.ReadBack == nil || b.Status.Digest == "" {
		return nil, fmt.Errorf("%s is not stored completely: choose a backup that was read back (`refit backup list`)", name)
	}
	ready, unready, err := from.EtcdMembers(ctx)
	if err != nil {
		return nil, err
	}
	if len(ready)+len(unready) == 0 {
		return nil, fmt.Errorf("%s has no static pods of etcd, and Refit does not restore an external etcd: %s", cluster, restore.ExternalRemedy)
	}
	at := b.Status.ReadBack
	if b.Status.Uploaded != nil {
		at = b.Status.Uploaded
	}
	stored := restore.Backup{
		ID: fmt.Sprintf("%s/%d", b.UID, b.Status.Attempt), Digest: b.Status.Digest, Time: at.Time, Revision: b.Status.Revision,
	}
	g := restore.NewGuide(now, stored, ready, unready, []string{"--identity=" + Identity})
	out := &cliv1alpha1.Restore{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindRestore, Cluster: cluster, Backup: name, Time: stored.Time.UTC(), Revision: stored.Revision,
		Situation: string(g.Situation), Description: g.Situation.Description(), Lost: g.Lost,
		Serving: len(unready) == 0,
	}
	if b.Status.Deleted != nil && g.Situation != restore.Replace {
		out.Deleted = b.Status.Deleted.UTC()
	}
	if g.Situation != restore.Replace {
		out.Identity = Identity
	}
	for _, c := range g.Commands {
		out.Commands = append(out.Commands, cliv1alpha1.RestoreCommand{Node: c.Member, Command: strings.Join(c.Args, " ")})
	}
	// A replaced member needs no backup. Without the BackupStore, hosts still know where it was.
	if store, err := from.BackupStore(ctx, b.Spec.Store); err == nil && g.Situation != restore.Replace {
		out.Copy = toCopy(b, &store.Spec, out.Commands)
	}
	return out, nil
}

// toCopy returns what the nodes of commands need of a backup that is in a directory of another one.
func toCopy(b *refitv1alpha1.EtcdBackup, store *refitv1alpha1.BackupStoreSpec, commands []cliv1alpha1.RestoreCommand) *cliv1alpha1.RestoreCopy {
	if store.Path == nil {
		return nil
	}
	out := &cliv1alpha1.RestoreCopy{Directory: path.Join(store.Path.Directory, store.Prefix, string(b.UID)), From: b.Status.Node}
	for _, c := range commands {
		if c.Node != out.From {
			out.To = append(out.To, c.Node)
		}
	}
	if len(out.To) == 0 {
		return nil
	}
	return out
}
