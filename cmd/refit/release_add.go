package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/text"
)

// addFlags are the flags of `refit release add`.
type addFlags struct {
	connect.Kubeconfig
	format
	release.Addition
	creation release.Creation
	given    bool // the kinds or platforms of the hosts
	yes      bool
}

func newReleaseAddCommand(a *app) *cobra.Command {
	f := &addFlags{}
	cmd := &cobra.Command{
		Use:   "add VERSION --from DIRECTORY | --online",
		Short: "Create a ClusterRelease, sign it and add it to a cluster",
		Long: `Create a ClusterRelease, sign it and add it to a cluster: "release create", "release sign" and
"kubectl apply" in one command. It shows the content and prompts before it signs.

With --online, it selects the files for the hosts of the cluster, unless you select them with --kind
and --arch.

It signs with your own key unless you name another one with --key. The key must be pinned on the
hosts ("install" pins it); the command fails before it reads any file if it is not.

If the cluster has a ClusterRelease with the same content, the command changes nothing. A
ClusterRelease is immutable: another one for the same version needs another --name.`,
		Example: a.example(
			"# Add a ClusterRelease from a directory", "release add v1.36.3 --from /srv/refit",
			"# Add one from upstream, for the hosts of the cluster", "release add v1.36.3 --online",
			"# Add one in a pipeline, with a key that has a passphrase",
			"release add v1.36.3 --from /srv/refit --key keys/refit-release.key --passphrase-file passphrase --yes",
		),
		Args: accept(arguments.One("name one version, for example v1.36.3")),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.creation.Kubernetes = args[0]
			if err := cmp.Or(f.Check(), f.creation.Check(cmd.Flags().Changed)); err != nil {
				return err
			}
			f.given = cmd.Flags().Changed("kind") || cmd.Flags().Changed("arch")
			return f.run(cmd.Context(), a)
		},
	}
	addSignerFlags(cmd, a, &f.Signer)
	addCreationFlags(cmd, a, &f.creation)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask before it signs")
	addKubeconfigFlags(cmd, &f.Kubeconfig)
	f.addFlags(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (f *addFlags) run(ctx context.Context, a *app) error {
	f.Log, f.Content = a.Err, f.creation.Create
	if !f.yes {
		if err := a.MayAsk(); err != nil {
			return err
		}
		f.Confirm = a.Confirm
	}
	name, installed, releases, err := a.releases(&f.Kubeconfig)(ctx)
	if err == nil && f.creation.Upstream && !f.given {
		err = a.selectFor(ctx, &source.Source{Kubeconfig: f.Kubeconfig, Timeout: source.DefaultTimeout}, &f.creation)
	}
	if err != nil {
		return err
	}
	result, err := f.Add(ctx, name, installed, releases)
	if err != nil {
		return err
	}
	return a.PrintAs(&f.Format, result, func() string { return text.AddedRelease(result, a.name) })
}

// releases connects to a cluster whose hosts accept ClusterReleases.
func (a *app) releases(k *connect.Kubeconfig) func(context.Context) (string, release.Installation, release.Target, error) {
	return func(ctx context.Context) (string, release.Installation, release.Target, error) {
		c, err := a.connect(ctx, k)
		if err != nil {
			return "", nil, nil, err
		}
		installed, err := a.installer(c.config)
		return c.Name, installed, c, err
	}
}
