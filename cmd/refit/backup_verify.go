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
		long:  backups.VerifyHelp,
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
