package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

// verification has the flags of `refit release verify`.
type verification struct {
	format
	keys, from []string
}

func newReleaseVerifyCommand(a *app) *cobra.Command {
	v := &verification{}
	cmd := &cobra.Command{
		Use:   "verify FILE --key PUBLIC-KEY",
		Short: "Verify the signature and the files of a ClusterRelease",
		Long: `Verify a ClusterRelease as a host does: it is valid, and signed by a key that you trust. With
--from, the command also reads every file of the ClusterRelease from a source and compares it with
its signed digest. A source is a directory, a web server (https://..., http://...) or an OCI layout
(oci:/path), as on hosts. Exits with 1 if a file is missing or differs.`,
		Example: a.example(
			"# Verify the signature", "release verify v1.36.3.yaml --key keys/refit-release.pem",
			"# Verify the files as well", "release verify v1.36.3.yaml --key /etc/refit/keys --from /srv/refit",
		),
		Args: oneFile("a signed ClusterRelease"),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), a, args[0]) },
	}
	cmd.Flags().StringArrayVar(&v.keys, "key", nil, "a public key's `FILE`, or a directory of public keys; can be repeated")
	cmd.Flags().StringArrayVar(&v.from, "from", nil, "a `SOURCE` of the files to compare; can be repeated")
	v.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (v *verification) run(ctx context.Context, a *app, name string) error {
	if err := v.Check(); err != nil {
		return err
	}
	if len(v.keys) == 0 {
		return exit.Usagef("--key is required: a public key that you trust")
	}
	file, err := release.Load(name, a.ReadFile)
	if err != nil {
		return err
	}
	document, err := file.VerifyWith(ctx, v.keys, v.from)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return cmp.Or(a.PrintAs(&v.Format, document, func() string { return text.Release(&document) }), release.AllMatch(&document))
}
