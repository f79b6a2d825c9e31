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
		Short: "Print a shell completion script",
		Long: `Print a script that completes refit's commands and flags in a shell.

kubectl completes a plugin with a separate executable. To complete "kubectl refit", link the binary
as kubectl_complete-refit beside kubectl-refit in your PATH.`,
		Example: `  # Complete in the current bash
  source <(refit completion bash)

  # Complete in every zsh
  refit completion zsh > "${fpath[1]}/_refit"

  # Complete in every fish
  refit completion fish > ~/.config/fish/completions/refit.fish

  # Complete "kubectl refit"
  ln -s refit /usr/local/bin/kubectl_complete-refit`,
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
				return fmt.Errorf("cannot write the script: %w", err)
			}
			return nil
		},
	}
}
