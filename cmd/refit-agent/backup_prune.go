package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
)

func (a *app) backupPrune() *cobra.Command {
	c := &cobra.Command{
		Use:   "prune STORE",
		Short: "Delete the backups that a BackupStore does not keep",
		Long: `prune deletes the backups that a BackupStore does not keep, as the agent does after each backup, and
uploads that were interrupted more than a day ago. The last good backup, and the last one that was
restored in a drill, always stay. In a directory, so do the backups that other hosts have taken, until
these have marked them as deleted. Without --yes it only prints what it would delete.`,
		Example: `  # Print what would be deleted on this host
  refit-agent backup prune local

  # Delete it
  refit-agent backup prune local --yes`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("name one BackupStore")
			}
			return nil
		},
	}
	yes := c.Flags().Bool("yes", false, "delete the backups")
	c.RunE = func(c *cobra.Command, args []string) error {
		expired, err := agent.BackupCluster(version).Prune(c.Context(), args[0], time.Now(), *yes)
		if err == nil || len(expired) > 0 {
			a.printExpired(expired, *yes)
		}
		return err
	}
	return c
}

func (a *app) printExpired(expired []enginebackup.Listed, deleted bool) {
	for _, l := range expired {
		fmt.Fprintf(a.out, "%-10s  %s  %d bytes  %s\n", l.State, l.ID, l.Size, l.Modified.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	switch {
	case len(expired) == 0:
		fmt.Fprintln(a.out, "There is nothing to delete.")
	case deleted:
		fmt.Fprintf(a.out, "Deleted %d.\n", len(expired))
	default:
		fmt.Fprintf(a.out, "%d to delete. To delete them, add --yes.\n", len(expired))
	}
}
