package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/release"
)

func newReleaseSignCommand(a *app) *cobra.Command {
	key, name := "", ""
	cmd := &cobra.Command{
		Use:   "sign FILE --key PRIVATE-KEY",
		Short: "Sign a ClusterRelease",
		Long: `Sign the output of "release create" and write a ClusterRelease object to standard output, for
"kubectl apply --server-side". Review the file before you sign it: hosts install its content and
nothing else.

A ClusterRelease in a cluster is immutable. Another one for the same version needs another --name.`,
		Example: a.example(
			"# Sign a ClusterRelease", "release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"# Sign another one for the same version and apply it",
			"release sign v1.36.3.json --key keys/refit-release.key --name kubernetes-v1.36.3-b | kubectl apply --server-side -f -",
		),
		Args: oneFile("the output of refit release create"),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return exit.Usagef("--key is required: the file of the private key")
			}
			manifest, err := release.SignFile(args[0], a.ReadFile, key, name)
			if err != nil {
				return err
			}
			return a.PrintEncoded(document.YAML(manifest))
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key's `FILE`, from \"release key create\"")
	cmd.Flags().StringVar(&name, "name", "", "the ClusterRelease's `NAME` (default kubernetes-VERSION)")
	return cmd
}
