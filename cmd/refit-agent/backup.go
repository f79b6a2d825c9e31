package main

import (
	"fmt"
	"os"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/backup"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
)

func (a *app) backup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup",
		Short: "Verify and delete backups of etcd on a control plane host",
		Long: `backup verifies and deletes backups of etcd. It reads the cluster with /etc/kubernetes/admin.conf, so
it works on control plane hosts only.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.backupVerify(), a.backupPrune())
	return c
}

func (a *app) backupVerify() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify NAME",
		Short: "Verify the stored backup of an EtcdBackup",
		Long: `verify reads every part of a stored backup and compares it with the digest in the status of its
EtcdBackup. With --identity it also decrypts every part, which proves that the identity can read the
backup, and sets the condition IdentityProven of the BackupStore. Keep identities away from the
cluster otherwise.`,
		Example: `  # Verify that the store has every part
  refit-agent backup verify before-maintenance

  # Verify that an identity decrypts it
  refit-agent backup verify before-maintenance --identity refit-backup.key`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one EtcdBackup")
			}
			return nil
		},
	}
	file := c.Flags().String("identity", "", "`file` with an age identity")
	c.RunE = func(c *cobra.Command, args []string) error {
		identities, err := readIdentities(*file)
		if err != nil {
			return err
		}
		verified, err := agent.BackupCluster(version).Verify(c.Context(), args[0], identities)
		if err != nil {
			return err
		}
		a.printVerified(args[0], verified, len(identities) > 0)
		return nil
	}
	return c
}

// readIdentities reads the identities in a file. Without a file there are none.
func readIdentities(file string) ([]age.Identity, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the identity: %w", err)
	}
	return seal.Identities(string(text))
}

func (a *app) printVerified(name string, m *backup.Verified, decrypted bool) {
	fmt.Fprintf(a.out, "Backup:    %s, attempt %d, of %s\n", name, m.Attempt, m.Time.Format("2006-01-02 15:04:05 UTC"))
	fmt.Fprintf(a.out, "etcd:      %s, revision %d\n", m.EtcdVersion, m.Revision)
	for _, part := range m.Parts {
		fmt.Fprintf(a.out, "Part:      %s, %d bytes stored, %d bytes plain\n", part.Name, part.Stored.Size, part.Plain.Size)
	}
	if m.Deleted != nil {
		fmt.Fprintf(a.out, "Marked:    as deleted on %s: the next run of retention may delete it\n", m.Deleted.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	switch {
	case !decrypted:
		fmt.Fprintln(a.out, "Verified:  every part has its digest; it was not decrypted")
	case m.IdentityProven:
		fmt.Fprintf(a.out, "Verified:  every part has its digest, and the identity decrypts it\nRecorded:  IdentityProven of BackupStore %s\n", m.Store)
	default:
		fmt.Fprintf(a.out, "Verified:  every part has its digest, and the identity decrypts it, but is of no present recipient of BackupStore %s\n", m.Store)
	}
}
