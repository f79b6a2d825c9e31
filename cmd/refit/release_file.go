package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newReleaseSignCommand(a *app) *cobra.Command {
	s := &release.Signer{}
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign a ClusterRelease",
		Long:  release.SignHelp,
		Example: a.example(
			"# Sign a ClusterRelease", "release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"# Sign another one for the same version and apply it",
			"release sign v1.36.3.json --key keys/refit-release.key --name kubernetes-v1.36.3-b | kubectl apply --server-side -f -",
		),
		Args: oneFile("the output of refit release create"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.PrintEncoded(s.SignFile(cmd.Context(), args[0], a.ReadFile))
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
	p.CanAsk, p.Ask, p.Keyring = a.CanAskSecret, a.AskSecret, a.Keyring
}

// verification has the flags of `refit release verify`.
type verification struct {
	format
	keys, from []string
}

func newReleaseVerifyCommand(a *app) *cobra.Command {
	v := &verification{}
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Verify the signature and the files of a ClusterRelease",
		Long:  release.VerifyHelp,
		Example: a.example(
			"# Verify the signature", "release verify v1.36.3.yaml --key keys/refit-release.pem",
			"# Verify the files as well", "release verify v1.36.3.yaml --key /etc/refit/keys --from /srv/refit",
		),
		Args: oneFile("a signed ClusterRelease"),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), a, args[0]) },
	}
	cmd.Flags().StringArrayVar(&v.keys, "key", nil,
		"a public key's `FILE`, or a directory of public keys; can be repeated (default your own and the directory keys of your configuration)")
	cmd.Flags().StringArrayVar(&v.from, "from", nil, "a `SOURCE` of the files to compare; can be repeated")
	v.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (v *verification) run(ctx context.Context, a *app, name string) error {
	if err := v.Check(); err != nil {
		return err
	}
	keys, err := release.TrustedKeys(v.keys)
	if err != nil {
		return err
	}
	file, err := release.Load(name, a.ReadFile)
	if err != nil {
		return err
	}
	document, err := file.VerifyWith(ctx, keys, v.from)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return cmp.Or(a.PrintAs(&v.Format, document, func() string { return text.Release(&document) }), release.AllMatch(&document))
}

func newReleaseShowCommand(a *app) *cobra.Command {
	f := &format{}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show the content of a ClusterRelease",
		Long: `Show the content of a ClusterRelease: a file from "release create" or "release sign", or an object
from a cluster. The signature is not verified; use "release verify" for that.`,
		Example: a.example("# Show a ClusterRelease", "release show v1.36.3.yaml", "# Print it as YAML", "release show v1.36.3.json -o yaml"),
		Args:    oneFile("a ClusterRelease"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			file, err := release.Load(args[0], a.ReadFile)
			if err != nil {
				return err
			}
			document, err := file.Show()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.PrintAs(&f.Format, document, func() string { return text.Release(&document) })
		},
	}
	f.addFlags(cmd)
	return cmd
}
