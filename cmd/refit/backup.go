package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/backups"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newBackupCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use:   "backup",
		Short: "Back up etcd",
		Long: `Back up etcd, together with the files of a control plane host that a restore needs. The agent of a
control plane node takes a backup, encrypts it and stores it in a BackupStore. A backup counts only
after every part of it was read back from the store.`,
		Example: a.example("# Take a backup", "backup create", "# List the backups", "backup list"),
	}, newBackupCreateCommand(a), newBackupListCommand(a), newBackupShowCommand(a), newBackupVerifyCommand(a), newBackupPruneCommand(a))
}

func newBackupListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "list",
		short: "List the backups of a cluster",
		long: `List the backups of a cluster, the newest first: the store, the node that took each, its size and
etcd's revision, whether it was read back from the store and restored in a drill, whether the
identity of its store is proven ("backup verify" proves it), and the upgrade that relies on it. The
list has the EtcdBackups of the cluster. Retention deletes a backup from its store and leaves its
EtcdBackup, whose state is then "deleted": it cannot be restored.`,
		example: []string{"# List the backups", "backup list", "# Print the list as JSON", "backup list -o json"},
		args:    noArguments,
		read: func(r *reading) (any, func() string, error) {
			list, err := r.ListBackups(r.Context())
			return list, func() string { return text.Backups(list, a.Now(), a.name) }, err
		},
	})
}

func newBackupShowCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "show NAME",
		short: "Show a backup",
		long: `Show a backup: its objects and digest, etcd's revision, whether the identity of its store is proven,
the result of the drill and the findings of the rehearsal, or why it failed, with the remedy.`,
		example: []string{"# Show a backup", "backup show backup-20261116-0300", "# Print it as JSON", "backup show backup-20261116-0300 -o json"},
		args:    backupArgument,
		read: func(r *reading) (any, func() string, error) {
			b, err := r.ShowBackup(r.Context(), r.name)
			return b, func() string { return text.Backup(b, a.Page(false)) }, err
		},
	})
}

func newRestoreCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use:   "restore NAME",
		short: "Show how to restore etcd from a backup",
		long: `Show how etcd gets the data of a backup back: the situation, what is lost, and the command for each
node in order. Nothing is changed: the commands do it on their nodes. Without the API, run
"refit-agent restore" on a control plane node.`,
		example: []string{"# Show how to restore a backup", "restore backup-20261116-0300"},
		args:    backupArgument,
		read: func(r *reading) (any, func() string, error) {
			out, err := backups.Restore(r.Context(), r.Cluster, r.Cluster.Name, r.name, a.Now())
			return out, func() string { return text.Restore(out) }, err
		},
	})
}

// backupArgument accepts the name of a backup.
var backupArgument = accept(arguments.One("name one backup, as `refit backup list` prints it"))
