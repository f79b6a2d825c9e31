package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newReleaseKeyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make the keys that ClusterReleases are signed with",
		Long:    `Makes the keys that ClusterReleases are signed with.`,
		Example: a.example("release key new --out keys"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newReleaseKeyNewCommand(a))
	return cmd
}

func newReleaseKeyNewCommand(a *app) *cobra.Command {
	f := &format{}
	out := ""
	cmd := &cobra.Command{
		Use:   "new --out DIRECTORY|FILE",
		Short: "Make a key pair",
		Long: `Makes a new ed25519 key pair: a private key that signs Releases, and beside it a public key (.pem)
that hosts verify them with. A file that is there already is never overwritten.

The private key has no passphrase. Whoever has it decides what your hosts install: keep it off the
clusters, best in a safe place that only your release pipeline reads.`,
		Example: a.example("release key new --out keys", "release key new --out ~/.config/refit/production.key"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if out == "" {
				return exit.Usagef("say where the key goes, with --out")
			}
			key, err := release.NewKeyPair(out)
			if err != nil {
				return err
			}
			return f.print(a, key, func() string { return text.ReleaseKey(&key, a.name) })
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory that gets "+release.KeyName+" and its .pem, or the private key's `FILE`")
	f.addFlags(cmd)
	return cmd
}
