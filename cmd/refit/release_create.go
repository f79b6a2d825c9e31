package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/source"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

func newReleaseCreateCommand(a *app) *cobra.Command {
	c, s, forCluster := &release.Creation{}, &source.Source{}, false
	cmd := &cobra.Command{
		Use:   "create --kubernetes VERSION --from DIRECTORY | --online",
		Short: "Create a ClusterRelease from files or from upstream",
		Long:  release.CreateHelp,
		Example: a.example(
			"# Create a ClusterRelease from a directory", "release create --kubernetes v1.36.3 --from /srv/refit > v1.36.3.json",
			"# Create one without runc from two directories", "release create --kubernetes v1.36.3 --from bin --from images --without runc > v1.36.3.json",
			"# Create one from upstream for the hosts of a cluster", "release create --kubernetes v1.36.3 --online --for-cluster > v1.36.3.json",
			"# Create one from upstream for Debian packages on two platforms",
			"release create --kubernetes v1.36.3 --online --kind deb --arch amd64 --arch arm64 > v1.36.3.json",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Check(cmd.Flags().Changed); err != nil {
				return err
			}
			if forCluster {
				if err := a.selectFor(cmd.Context(), s, c); err != nil {
					return err
				}
			}
			return a.PrintEncoded(c.Create(cmd.Context(), a.Err))
		},
	}
	cmd.Flags().StringVar(&c.Kubernetes, "kubernetes", "",
		"the `VERSION` of Kubernetes, for example v1.36.3; with --online also v1.36, its newest patch release")
	addCreationFlags(cmd, a, c)
	cmd.Flags().BoolVar(&forCluster, "for-cluster", false, "with --online: the kinds and platforms that the hosts of the cluster report")
	addSourceFlags(cmd, s)
	cmd.Flags().SortFlags = false
	return cmd
}

// addCreationFlags adds the flags about the content of a ClusterRelease.
func addCreationFlags(cmd *cobra.Command, a *app, c *release.Creation) {
	c.Reading = a.readingContent
	flags := cmd.Flags()
	flags.StringArrayVar(&c.Folders, "from", nil, "a `DIRECTORY` to search; can be repeated")
	flags.BoolVar(&c.Upstream, "online", false, "take missing files and images from upstream")
	flags.StringArrayVar(&c.Servers.Archs, "arch", []string{"amd64"}, "with --online: a `PLATFORM`, for example amd64; can be repeated")
	flags.StringArrayVar(&c.Kinds, "kind", nil,
		"with --online: a `KIND` of hosts: "+strings.Join(release.KindNames(), ", ")+" (default binary); can be repeated")
	flags.StringVar(&c.Containerd, "containerd", "", "the `VERSION` of containerd, if several are found or with --online")
	flags.StringVar(&c.Runc, "runc", "", "the `VERSION` of runc, if several are found or with --online")
	flags.StringVar(&c.CNIPlugins, "cni-plugins", "", "the `VERSION` of the CNI plugins, if several are found or with --online")
	flags.StringVar(&c.Etcd, "etcd", "", "the `TAG` of the etcd image (default the one that kubeadm requires)")
	flags.StringVar(&c.CoreDNS, "coredns", "", "the `TAG` of the CoreDNS image (default the one that kubeadm requires)")
	flags.StringVar(&c.Pause, "pause", "", "the `TAG` of the pause image (default the one that kubeadm requires)")
	flags.StringVar(&c.ComponentsFile, "components", "", "a `FILE` that lists components: Helm charts that are upgraded with the cluster")
	flags.StringVar(&c.ConfigurationFile, "cluster-configuration", "", "a `FILE` with fields of kubeadm's ClusterConfiguration that the upgrade sets")
	flags.StringArrayVar(&c.Without, "without", nil, "omit a `PART`: "+strings.Join(create.Optional(), ", "))
	c.AddDownloads(flags.StringVar)
	flags.StringVar(&c.Servers.Packages, "packages", upstream.Packages, "with --online: the `URL` of the package repositories")
	flags.StringArrayVar(&c.Servers.PackageKeys, "package-key", nil,
		"with --online: the `FINGERPRINT` of a key that may sign them (default that of the Kubernetes project); can be repeated")
	flags.StringArrayVar(&c.Servers.AcceptDigests, "accept-digest", nil, "with --online: the `DIGEST` of an unsigned file or image; can be repeated")
	flags.StringVar(&c.Servers.Repository, "image-repository", create.Repository, "with --online: the `REPOSITORY` of the images")
	flags.StringVar(&c.Servers.Mirror, "image-mirror", "", "with --online: the `ADDRESS` of a mirror of that repository; images keep their names")
}

// readingContent reports what is read for a ClusterRelease.
func (a *app) readingContent(name string) release.Reading { return a.NewReading(name, false) }

// selectFor selects the files for the hosts of a cluster.
func (a *app) selectFor(ctx context.Context, s *source.Source, c *release.Creation) error {
	observed, err := a.reader().Read(ctx, s)
	if err != nil {
		return err
	}
	return c.For(observed.Snapshot)
}

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
		Long:  release.AddHelp,
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
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "skip the confirmation prompt")
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
