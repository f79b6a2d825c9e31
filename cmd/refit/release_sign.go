package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/release"
)

func newReleaseSignCommand(a *app) *cobra.Command {
	key, name := "", ""
	cmd := &cobra.Command{
		Use:   "sign FILE --key PRIVATE-KEY",
		Short: "Sign a ClusterRelease, ready for kubectl apply",
		Long: `Signs what "release create" wrote, and writes a ClusterRelease object to standard output. Read the
file before you sign it: hosts install what is in it, and nothing else.

A ClusterRelease cannot be changed once it is in a cluster. Another one of the same version needs
another --name.`,
		Example: a.example(
			"release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"release sign v1.36.3.json --key keys/refit-release.key --name kubernetes-v1.36.3-b | kubectl apply -f -",
		),
		Args: oneFile("what refit release create wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return exit.Usagef("say with which key, with --key")
			}
			raw, err := a.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("the ClusterRelease's content cannot be read: %w", err)
			}
			manifest, err := release.Sign(args[0], raw, key, name)
			if err != nil {
				return err
			}
			out, err := document.YAML(manifest)
			if err != nil {
				return err
			}
			return a.Print(out)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the private key's `FILE`, from \"release key new\"")
	cmd.Flags().StringVar(&name, "name", "", "the ClusterRelease's `NAME` (default kubernetes-VERSION)")
	return cmd
}
