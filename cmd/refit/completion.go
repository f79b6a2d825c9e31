package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// shells are the shells that completion scripts are written for.
var shells = map[string]func(root *cobra.Command, out io.Writer) error{
	"bash":       func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

func newCompletionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Write a completion script for a shell",
		Long: `Writes a script that completes refit's commands and flags, for the shell that is named.

kubectl completes its plugins through a program of its own. For "kubectl refit", put a file named
kubectl_complete-refit into the PATH, executable, with these two lines:

  #!/bin/sh
  exec kubectl-refit __complete "$@"`,
		Example: `  source <(refit completion bash)
  refit completion zsh > "${fpath[1]}/_refit"
  refit completion fish > ~/.config/fish/completions/refit.fish`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return exit.Usagef("name one shell: bash, zsh, fish or powershell")
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shells[args[0]](cmd.Root(), a.Out); err != nil {
				return fmt.Errorf("write the script: %w", err)
			}
			return nil
		},
	}
}
