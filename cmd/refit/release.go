package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
)

// releaseCommands are the commands about ClusterReleases.
var releaseCommands = []func(*app) *cobra.Command{
	newReleaseKeyCommand,    // a key pair, once
	newReleaseCreateCommand, // from files or from upstream
	newReleaseSignCommand,   // for hosts to accept it
	newReleaseVerifyCommand, // before it is applied, or when in doubt
	newReleaseShowCommand,   // its content
}

func newReleaseCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Make, sign and verify what clusters are upgraded to",
		Long: `A ClusterRelease says what to upgrade to: versions, and every program, package and image by its
digest. It is signed by its owner, and a host installs nothing that is not in a ClusterRelease
signed by a key that was put onto the host. So whoever can write into the cluster can still only
choose among what you signed.

Make a key once, then for each version: create, sign, kubectl apply.`,
		Example: a.example(
			"release key new --out keys",
			"release create --kubernetes v1.36.3 --from /srv/refit > v1.36.3.json",
			"release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"release verify v1.36.3.yaml --key keys/refit-release.pem --from /srv/refit",
			"release show v1.36.3.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	for _, command := range releaseCommands {
		cmd.AddCommand(command(a))
	}
	return cmd
}

// oneFile rejects anything but one file on the command line.
func oneFile(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.Usagef("name one file: %s (- for stdin)", what)
		}
		return nil
	}
}
