package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// commands are all commands of refit.
var commands = []func(*app) *cobra.Command{
	newCheckCommand,      // preflight findings
	newChecksCommand,     // the list of preflight checks
	newPlanCommand,       // stages, order, reasons, estimates
	newUpgradeCommand,    // start an operation and follow it
	newStatusCommand,     // the progress of an operation
	newWatchCommand,      // the same, until it ends
	newPauseCommand,      // start nothing further
	newResumeCommand,     // continue after a pause
	newRetryCommand,      // after a cause was fixed
	newAbortCommand,      // end an operation
	newExplainCommand,    // the state of one node
	newHistoryCommand,    // earlier operations
	newApproveCommand,    // approve a plan
	newSnapshotCommand,   // save a Snapshot, to check and plan elsewhere
	newReleaseCommand,    // ClusterReleases
	newInstallCommand,    // Refit into a cluster
	newUninstallCommand,  // Refit out of a cluster
	newVersionCommand,    // versions
	newCompletionCommand, // shell completion
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	return a.exit(ctx, err, command.CommandPath())
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "refit",
		Short: "Upgrade self-managed Kubernetes clusters in place",
		Long: `Refit upgrades Kubernetes clusters made with kubeadm in place: the machines stay, what runs on
them changes.

The command install brings Refit into a cluster and its agent onto the hosts. The command upgrade
shows a plan, asks, and follows the upgrade to its end; it can be paused, resumed, retried and
aborted. All of it is objects of the cluster, so kubectl shows and steers it, too.

Exit codes: 0 done, 1 failed or aborted, 2 wrong usage, 3 blocked by a preflight finding, 4 not done
when the time was over, 130 interrupted.

It is also a plugin of kubectl: a copy or link of the program named kubectl-refit somewhere in the
PATH makes it "kubectl refit".`,
		Example:                    a.example("check --to v1.36.3", "plan --to v1.36.3", "upgrade --to v1.36.3", "status"),
		Annotations:                map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableAutoGenTag:          true,
		Args:                       noArguments,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 100 "))
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.UsageError{Err: err} })
	for _, command := range commands {
		root.AddCommand(command(a))
	}
	return root
}

// noArguments rejects arguments beside flags, such as a version without --to.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return exit.Usagef("there is no command %q; is it %s?", args[0], strings.Join(near, " or "))
		}
		return exit.Usagef("there is no command %q", args[0])
	}
	return exit.Usagef("%q is one argument too many: everything is given by flags", args[0])
}

// example formats the examples of a command's help.
func (a *app) example(lines ...string) string {
	return "  " + a.name + " " + strings.Join(lines, "\n  "+a.name+" ")
}
