package main

import (
	"github.com/spf13/cobra"

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
	out, passphrase := "", release.Passphrase{}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key pair",
		Long: `Create an ed25519 key pair: a private key that signs ClusterReleases, and beside it a public key
(.pem) that hosts verify them with. Existing files are never overwritten.

The private key determines what your hosts install: keep it off the clusters. On a terminal, the
command prompts for a passphrase. A key with a passphrase is a file that age decrypts, too.

Without --out, the key becomes your own: the other commands use it unless you name another one. It
is in the directory refit of your configuration, such as ~/.config/refit on Linux.`,
		Example: a.example(
			"# Create your own key pair", "release key create",
			"# Create a key pair in a directory", "release key create --out keys",
			"# Choose the name of the private key", "release key create --out ~/.config/refit/production.key",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			key, err := release.NewKeyPair(cmd.Context(), out, passphrase)
			if err != nil {
				return err
			}
			return a.PrintAs(&f.Format, key, func() string { return text.ReleaseKey(&key, a.name) })
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory of the new "+release.KeyName+" and its .pem, or the private key's `FILE` (default your own key)")
	addPassphraseFlag(cmd, a, &passphrase)
	f.addFlags(cmd)
	return cmd
}
