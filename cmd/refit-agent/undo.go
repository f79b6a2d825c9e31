package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
)

func (a *app) undo() *cobra.Command {
	c := &cobra.Command{
		Use:   "undo",
		Short: "Roll this host back to before its last operation, without the API",
		Long: `undo rolls the host back manually when the API is unavailable. Stop the service first (systemctl
stop refit-agent) and start it again afterwards. "refit-agent steps" prints how each step is undone.

undo restores only what the operation wrote, and only if nothing else has changed it since. After a
successful upgrade, undo refuses to start if the previous version could not run with later changes;
--yes does not override that.`,
		Example: `  # Print what would be restored, what is kept and what has changed since
  refit-agent undo

  # Roll the host back
  refit-agent undo --yes`,
		Args: noArguments,
	}
	keys := c.Flags().String("keys", settings.Keys, "`directory` of the public keys that may sign ClusterReleases")
	yes := c.Flags().Bool("yes", false, "roll back; without this flag, undo only prints what it would do")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := a.load()
		if err != nil {
			return err
		}
		if !*yes {
			return a.previewUndo(c.Context(), s)
		}
		status, err := agent.Undo(c.Context(), agent.Config{Settings: s, KeysDir: *keys, Kubeconfig: kubeletConf, Version: version, Log: a.logger()})
		if err != nil {
			return err
		}
		a.printStatus(status)
		return nil
	}
	return c
}

func (a *app) previewUndo(ctx context.Context, s settings.Settings) error {
	status, err := agent.Status(s)
	if err != nil {
		return err
	}
	if status.State == nil {
		return agent.ErrNothingToUndo
	}
	a.printStatus(status)
	if status.State.Outcome == refitv1alpha1.NodeRolledBack {
		fmt.Fprintln(a.out, "\nNothing to undo: this host is rolled back.")
		return nil
	}
	review := agent.Review(ctx, s, status)
	a.printList("Restored", review.Restored)
	a.printList("Kept", review.Kept)
	a.printList("Warnings", review.Warnings)
	if review.Refusal != nil {
		return review.Refusal
	}
	fmt.Fprintln(a.out, "\nNothing was changed. Run refit-agent undo --yes to roll the host back.")
	return nil
}

func (a *app) printList(heading string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(a.out, "\n"+heading+":")
	for _, item := range items {
		fmt.Fprintln(a.out, "  "+item)
	}
}

func (a *app) forget() *cobra.Command {
	return &cobra.Command{
		Use:   "forget",
		Short: "Accept binaries that were replaced by something other than Refit",
		Long: `forget makes the agent accept the installed binaries as they are, after it refused an upgrade because
something else had replaced them (ChangedByOthers). It also makes the agent accept the changes of an
upgrade that it neither resumed nor rolled back (ClusterChanged). Stop the service first (systemctl
stop refit-agent) and start it again afterwards.`,
		Example: `  # Accept the installed binaries
  systemctl stop refit-agent
  refit-agent forget
  systemctl start refit-agent`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			n, err := agent.Forget(s)
			if err == nil {
				fmt.Fprintf(a.out, "Accepted %d binaries. To start the service again, run: systemctl start refit-agent\n", n)
			}
			return err
		},
	}
}
