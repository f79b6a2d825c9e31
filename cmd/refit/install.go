package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// installFlags are the flags of `refit install`.
type installFlags struct {
	connect.Kubeconfig
	format
	installation.Installer
	passphrase release.Passphrase
	render     bool
}

func newInstallCommand(a *app) *cobra.Command {
	i := &installFlags{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install Refit in a cluster and its agent on every node",
		Long:  installation.InstallHelp,
		Example: a.example(
			"# Install Refit with your own key", "install --source https://mirror.example/refit",
			"# Install Refit with the key of a release pipeline",
			"install --release-key keys/refit-release.pem --source https://mirror.example/refit",
			"# Install Refit with the key of a publisher",
			"install --trust oci://registry.example/refit/releases --fingerprint SHA256:50TAeRMgwyhUYO3bUj8UyI2FetpGuXpWkNiM+Xi5GR8",
			"# Show what would change", "install --dry-run",
			"# Install the agents only, from another registry",
			"install --standalone --release-key keys/refit-release.pem --image-repository registry.example/refit",
			"# Install refit-components, too, which upgrades the components of ClusterReleases", "install --components",
			"# Print the manifests", "install --render --release-key keys/refit-release.pem > refit.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i.ComponentsChosen = cmd.Flags().Changed("components")
			return i.run(cmd.Context(), a)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&i.KeyFiles, "release-key", nil,
		"the `FILE` of a public key to pin on hosts, instead of those pinned before; can be repeated (default your own key)")
	flags.StringVar(&i.Trust.Repository, "trust", "",
		"a `REPOSITORY` of ClusterReleases, oci://HOST/PATH, that has public keys to pin on hosts; requires --fingerprint")
	flags.StringArrayVar(&i.Trust.Fingerprints, "fingerprint", nil, "with --trust: the `FINGERPRINT` of a key to pin (SHA256:...); can be repeated")
	addPassphraseFlag(cmd, a, &i.passphrase)
	flags.StringArrayVar(&i.Sources, "source", nil,
		"a `SOURCE` of files for hosts: a directory on the host, https://..., http://... or oci:/path; can be repeated, in order of preference")
	addRepositoryFlag(cmd, &i.Choice)
	flags.StringArrayVar(&i.Archives, "image-archive", nil, "an image's `FILE` for nodes without a registry: prints how to import it; can be repeated")
	flags.StringArrayVar(&i.PullSecrets, "image-pull-secret", nil,
		"the `NAME` of a Secret in Refit's namespaces with which nodes pull the images, or none; can be repeated (default the current ones)")
	flags.StringArrayVar(&i.Tolerations, "toleration", nil,
		"a `TOLERATION` of the controller and refit-components, KEY=VALUE:EFFECT, KEY:EFFECT or KEY, or none; can be repeated (default the current ones)")
	flags.StringVar(&i.Traces, "traces-endpoint", "",
		"the `URL` of an OpenTelemetry collector that gets traces of upgrades by OTLP over HTTP, or none (default the current one)")
	flags.StringVar(&i.Backups.Identity, "backup-key", "",
		"the `FILE` of the age identity that decrypts backups; it is created if it is missing "+
			"(default "+etcdbackup.IdentityFile+" beside the first --release-key)")
	flags.StringArrayVar(&i.Backups.Recipients, "backup-recipient", nil,
		"the age public `KEY` of an identity that you keep elsewhere, instead of --backup-key; can be repeated")
	flags.BoolVar(&i.Standalone, "standalone", false, "do not install the controller")
	flags.BoolVar(&i.Components, "components", false,
		"install refit-components, which has all permissions in the cluster, like cluster-admin; =false removes it (default as it is)")
	flags.BoolVar(&i.DryRun, "dry-run", false, "show what would change, as a server-side dry run")
	flags.BoolVar(&i.render, "render", false, "print the manifests without access to a cluster")
	flags.DurationVar(&i.Timeout, "timeout", 10*time.Minute, "the maximum `DURATION` of the wait for the agents and the controller")
	i.addWideFlag(cmd, "object and field")
	addKubeconfigFlags(cmd, &i.Kubeconfig)
	i.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func addRepositoryFlag(cmd *cobra.Command, c *installation.Choice) {
	cmd.Flags().StringVar(&c.Repository, "image-repository", "",
		"the `REPOSITORY` of the images (default the current one, then "+installation.DefaultRepository+")")
}

func (i *installFlags) run(ctx context.Context, a *app) error {
	i.Version, i.Manifests, i.Log, i.Changing = versionOf().Version, config.Files, a.Err, func() { a.changing = true }
	i.OwnKey = func(ctx context.Context, create bool) (string, *cliv1alpha1.ReleaseKey, error) {
		return release.OwnKey(ctx, i.passphrase, create)
	}
	if err := cmp.Or(i.format.Check(), i.Check(i.render, i.Output == terminal.FormatJSON), i.Backups.Check()); err != nil {
		return err
	}
	if err := i.Read(ctx); err != nil {
		return err
	}
	if i.render {
		return i.Render(ctx, a.Print)
	}
	cluster, name, err := a.installable(ctx, &i.Kubeconfig)
	if err != nil {
		return err
	}
	result, err := i.Install(ctx, cluster, name)
	if result == nil {
		return err
	}
	return cmp.Or(a.PrintAs(&i.Format, result, func() string { return text.Install(result, a.Page(i.Wide), a.name) }), err)
}

// installable connects to a cluster that Refit is installed into, or removed from.
func (a *app) installable(ctx context.Context, k *connect.Kubeconfig) (cluster installation.Cluster, name string, err error) {
	config, name, err := k.Load()
	if err != nil {
		return nil, "", err
	}
	if _, err := connect.Reach(ctx, config); err != nil {
		return nil, "", err
	}
	cluster, err = a.installer(config)
	return cluster, name, err
}

// uninstallFlags are the flags of `refit uninstall`.
type uninstallFlags struct {
	connect.Kubeconfig
	format
	installation.Uninstaller
	timeout time.Duration
}

func newUninstallCommand(a *app) *cobra.Command {
	u := &uninstallFlags{}
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Remove Refit from a cluster and its nodes",
		Long:    installation.UninstallHelp,
		Example: a.example("# Show what would be removed", "uninstall", "# Remove Refit", "uninstall --yes"),
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return u.run(cmd, a) },
	}
	flags := cmd.Flags()
	flags.BoolVarP(&u.Confirmed, "yes", "y", false, "remove Refit; without this flag the command only shows what it would do")
	flags.DurationVar(&u.timeout, "timeout", 10*time.Minute, "the maximum `DURATION` of the command")
	addRepositoryFlag(cmd, &u.Choice)
	addKubeconfigFlags(cmd, &u.Kubeconfig)
	u.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func (u *uninstallFlags) run(cmd *cobra.Command, a *app) error {
	if err := u.Check(); err != nil {
		return err
	}
	if u.timeout <= 0 {
		return exit.Usagef("--timeout: %s is not a positive duration", u.timeout)
	}
	u.Version, u.Manifests = versionOf().Version, config.Files
	u.Log, u.Changing = a.Err, func() { a.changing = true }
	if err := u.Read(cmd.Context()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), u.timeout)
	defer cancel()
	cluster, name, err := a.installable(ctx, &u.Kubeconfig)
	if err != nil {
		return err
	}
	result, err := u.Uninstall(ctx, cluster, name)
	if result == nil {
		return err
	}
	again := a.line(cmd, cmd.Name())
	return cmp.Or(a.PrintAs(&u.Format, result, func() string { return text.Uninstall(result, a.Page(u.Wide), again) }), err)
}
