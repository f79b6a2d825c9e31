package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/release"
)

func newReleaseSignCommand(a *app) *cobra.Command {
	s := &release.Signer{}
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign a ClusterRelease",
		Long: `Sign the output of "release create" and write a ClusterRelease object to standard output, for
"kubectl apply --server-side". Review the file before you sign it: hosts install its content and
nothing else. Without --key, your own key signs it. The command prompts for the key's passphrase.

A ClusterRelease in a cluster is immutable. Another one for the same version needs another --name.`,
		Example: a.example(
			"# Sign a ClusterRelease", "release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"# Sign another one for the same version and apply it",
			"release sign v1.36.3.json --key keys/refit-release.key --name kubernetes-v1.36.3-b | kubectl apply --server-side -f -",
		),
		Args: oneFile("the output of refit release create"),
		RunE: func(cmd *cobra.Command, args []string) error {
			manifest, err := s.SignFile(cmd.Context(), args[0], a.ReadFile)
			if err != nil {
				return err
			}
			return a.PrintEncoded(document.YAML(manifest))
		},
	}
	addSignerFlags(cmd, a, s)
	return cmd
}

// addSignerFlags adds the flags about the key and the name of a ClusterRelease.
func addSignerFlags(cmd *cobra.Command, a *app, s *release.Signer) {
	cmd.Flags().StringVar(&s.KeyFile, "key", "", "the private key's `FILE` (default "+release.KeyName+" in the directory refit of your configuration)")
	addPassphraseFlag(cmd, a, &s.Passphrase)
	cmd.Flags().StringVar(&s.Name, "name", "", "the ClusterRelease's `NAME` (default kubernetes-VERSION)")
}

func addPassphraseFlag(cmd *cobra.Command, a *app, p *release.Passphrase) {
	cmd.Flags().StringVar(&p.File, "passphrase-file", "", "a `FILE` whose first line is the passphrase of the key, instead of a prompt")
	p.CanAsk, p.Ask = a.CanAskSecret, a.AskSecret
}
