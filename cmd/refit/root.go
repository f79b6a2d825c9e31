package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
)

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []func(*app) *cobra.Command
}

// groups are all commands of refit, in the order of the help.
var groups = []group{
	{"inspect", "Inspect Commands:", []func(*app) *cobra.Command{
		newCheckCommand, newPlanCommand, newSnapshotCommand, newExplainCommand, newComponentsCommand, newSupportBundleCommand,
	}},
	{"upgrade", "Upgrade Commands:", []func(*app) *cobra.Command{
		newUpgradeCommand, newStatusCommand, newWatchCommand, newPauseCommand, newResumeCommand, newRetryCommand, newAbandonCommand, newAbortCommand,
		newApproveCommand, newWaiveCommand, newKeepCommand, newSetCommand, newScheduleCommand, newWindowCommand, newHistoryCommand, newServeCommand,
	}},
	{"backup", "Backup Commands:", []func(*app) *cobra.Command{newBackupCommand, newRehearseCommand, newRestoreCommand}},
	{"setup", "Setup Commands:", []func(*app) *cobra.Command{newInstallCommand, newUninstallCommand, newReleaseCommand}},
	{"other", "Other Commands:", []func(*app) *cobra.Command{newVersionCommand, newCompletionCommand}},
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, a *app, args []string) int {
	root := newRootCommand(a)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	return a.Exit(ctx, err, a.name, command.CommandPath(), a.changing)
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "refit",
		Short: "Upgrade self-managed Kubernetes clusters in place",
		Long: `Upgrade self-managed Kubernetes clusters in place: the machines stay, the software on them is
upgraded.

"install" installs Refit in a cluster and its agent on the hosts. "upgrade" shows a plan, prompts
for confirmation, and follows the upgrade until it ends. An upgrade is an object of the cluster, so
kubectl can show and change it as well.

Exit codes: 0 success, 1 failed or aborted, 2 usage error, 3 blocked by a finding, 4 timeout,
130 interrupted.

Refit is also a kubectl plugin: link the binary as kubectl-refit in your PATH and use
"kubectl refit".`,
		Example: a.example(
			"# Check whether a cluster can be upgraded", "check --to v1.36.3",
			"# Show the plan of an upgrade", "plan --to v1.36.3",
			"# Upgrade a cluster", "upgrade --to v1.36.3",
			"# Show the progress of an upgrade", "status",
		),
		Version:                    versionOf().Version,
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
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			cmd := command(a)
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpCommandGroupID("other")
	root.PersistentPreRunE = rejectFlags
	return root
}

// newHelpCommand returns the command that cobra has, except that it rejects an unknown command.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noArguments(found, append(rest, args...))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// rejectFlags rejects flags that have no value or exclude each other.
func rejectFlags(cmd *cobra.Command, args []string) error {
	if err := rejectEmptyFlags(cmd, args); err != nil || cmd.ValidateFlagGroups() == nil {
		return err
	}
	var given []string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Annotations[exclusive] != nil {
			given = append(given, "--"+flag.Name)
		}
	})
	return exit.Usagef("%s exclude each other", strings.Join(given, " and "))
}

// exclusive is the annotation that cobra's MarkFlagsMutuallyExclusive sets.
const exclusive = "cobra_annotation_mutually_exclusive"

// rejectEmptyFlags rejects a flag with an empty value: an unset variable of a script must not widen
// what a command does.
func rejectEmptyFlags(cmd *cobra.Command, _ []string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Value.String() == "" && flag.Value.Type() == "string" {
			err = exit.Usagef("--%s is empty: set a value or omit the flag", flag.Name)
		}
	})
	return err
}

// noArguments rejects arguments beside flags, such as a version without --to.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return exit.Usagef("unknown command %q; did you mean %s?", args[0], strings.Join(near, " or "))
		}
		return exit.Usagef("unknown command %q", args[0])
	}
	return exit.Usagef("unexpected argument %q: this command accepts flags only", args[0])
}

// example formats the examples of a command's help.
func (a *app) example(lines ...string) string { return text.Examples(a.name, lines...) }

// newGroup returns a command that only has others.
func (a *app) newGroup(parent *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	parent.Args, parent.SuggestionsMinimumDistance = noArguments, 2
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	parent.AddCommand(commands...)
	return parent
}

// accept adapts a validator of arguments.
func accept(validate func(args []string) error) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error { return validate(args) }
}
