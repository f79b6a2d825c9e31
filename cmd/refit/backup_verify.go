package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/backups"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newBackupVerifyCommand(a *app) *cobra.Command {
	v := &backups.Verifier{ReadFile: a.ReadFile, Now: a.Now}
	return a.newView(&view{
		use:   "verify NAME",
		short: "Verify a stored backup",
		long: `Verify a stored backup: read every part of it from its store, and compare it with the digests that
its EtcdBackup records. With --identity, the command also decrypts every part, which proves that you
can read your backups, and sets the condition IdentityProven of the BackupStore if you may approve.
The identity and the decrypted data stay in the memory of this process.

The credentials of a bucket are read from the cluster. A directory of control plane hosts can only
be read there: the command prints what to run on which host. If it is mounted on this machine, use
--path.

Exits with 0 only if every byte is proven, and with 1 otherwise.`,
		example: []string{
			"# Verify that the store has every part", "backup verify backup-20261116-0300",
			"# Verify that an identity decrypts it", "backup verify backup-20261116-0300 --identity refit-backup.key",
		},
		args: backupArgument,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&v.Identity, "identity", "", "the `FILE` of an age identity that decrypts the backup (- for stdin)")
			addPathFlag(cmd, &v.Access)
		},
		check: func([]string) error { return v.Read() },
		read: func(r *reading) (any, func() string, error) {
			transfer := a.NewTransfer(r.name)
			defer transfer.End()
			v.Report = transfer.Report
			result, err := v.Verify(r.Context(), r.Cluster, r.Cluster.Name, r.name)
			return result, func() string { return text.BackupVerification(result, a.Page(false)) }, err
		},
	})
}

func addPathFlag(cmd *cobra.Command, access *backups.Access) {
	cmd.Flags().StringVar(&access.Path, "path", "", "the `DIRECTORY` on this machine where the directory of the BackupStore is mounted")
}
