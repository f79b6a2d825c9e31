package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newReleaseKeyCommand(a *app) *cobra.Command {
	return a.newGroup(&cobra.Command{
		Use:     "key",
		Short:   "Manage the keys that sign ClusterReleases",
		Long:    `Manage the keys that sign ClusterReleases.`,
		Example: a.example("# Create a key pair", "release key create --out keys"),
	}, newReleaseKeyCreateCommand(a))
}

func newReleaseKeyCreateCommand(a *app) *cobra.Command {
	f := &format{}
	out := ""
	cmd := &cobra.Command{
		Use:   "create --out DIRECTORY|FILE",
		Short: "Create a key pair",
		Long: `Create an ed25519 key pair: a private key that signs ClusterReleases, and beside it a public key
(.pem) that hosts verify them with. Existing files are never overwritten.

The private key has no passphrase, and determines what your hosts install: keep it off the clusters,
in a place that only your release pipeline can read.`,
		Example: a.example(
			"# Create a key pair in a directory", "release key create --out keys",
			"# Choose the name of the private key", "release key create --out ~/.config/refit/production.key",
		),
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			if out == "" {
				return exit.Usagef("--out is required: the directory or the file of the new key")
			}
			key, err := release.NewKeyPair(out)
			if err != nil {
				return err
			}
			return a.PrintAs(&f.Format, key, func() string { return text.ReleaseKey(&key, a.name) })
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory of the new "+release.KeyName+" and its .pem, or the private key's `FILE`")
	f.addFlags(cmd)
	return cmd
}
