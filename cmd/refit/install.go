package main

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/text"
)

// installFlags are the flags of `refit install`.
type installFlags struct {
	connect.Kubeconfig
	format
	installation.Installer
	render bool
}

func newInstallCommand(a *app) *cobra.Command {
	i := &installFlags{}
	cmd := &cobra.Command{
		Use:   "install --release-key FILE",
		Short: "Install Refit into a cluster, and its agent on every host",
		Long: `Brings into a cluster what Refit needs: its kinds of objects, rights, admission policies, the
controller, and a DaemonSet that places the agent on every node, also on those that come later. The
agent is a service of the host; the pod that places it is privileged until it has done so, and then
only pauses. The public keys that are given are pinned on the hosts: a host installs nothing that
is not signed by one of them.

It can be repeated, and brings a newer Refit the same way: what is as it should be stays as it is,
and what an earlier install brought and this one does not is removed. Keys, sources and the images'
repository that are not given stay as they are. It waits until the agents are placed and tells how
far each node is. While an operation is unfinished it refuses.

With --standalone the controller is left out: the controllers then run with the command itself.
With --render the manifests are printed for kubectl apply --server-side, and no cluster is asked.

Exits with 4 if not every node that is ready has its agent when the time is over.`,
		Example: a.example(
			"install --release-key keys/refit-release.pem --source https://mirror.example/refit",
			"install --dry-run",
			"install --standalone --release-key keys/refit-release.pem --image-repository registry.example/refit",
			"install --render --release-key keys/refit-release.pem > refit.yaml",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return i.run(cmd.Context(), a) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&i.KeyFiles, "release-key", nil, "a public key's `FILE` to pin on hosts; can be given several times, and then these are all")
	flags.StringArrayVar(&i.Sources, "source", nil,
		"a `SOURCE` where hosts get files from: a folder on them, https://..., oci:/path; can be given several times, tried in order")
	addRepositoryFlag(cmd, &i.Choice)
	flags.BoolVar(&i.Standalone, "standalone", false, "leave the controller out")
	flags.BoolVar(&i.DryRun, "dry-run", false, "let the API server tell what would change, and change nothing")
	flags.BoolVar(&i.render, "render", false, "print the manifests, and ask no cluster")
	flags.DurationVar(&i.Timeout, "timeout", 10*time.Minute, "how long to wait for agents and controller")
	flags.BoolVar(&i.wide, "wide", false, "list every object and field instead of folding long lists")
	addKubeconfigFlags(cmd, &i.Kubeconfig)
	i.addFlags(cmd)
	flags.SortFlags = false
	return cmd
}

func addRepositoryFlag(cmd *cobra.Command, c *installation.Choice) {
	cmd.Flags().StringVar(&c.Repository, "image-repository", "",
		"the `REPOSITORY` of the images (default the one in use, then "+installation.DefaultRepository+")")
}

func (i *installFlags) run(ctx context.Context, a *app) error {
	if err := i.check(); err != nil {
		return err
	}
	switch {
	case i.render && i.DryRun:
		return exit.Usagef("--render asks no cluster, so there is nothing to try with --dry-run: give one of them")
	case i.Timeout <= 0:
		return exit.Usagef("--timeout: %s is no time to install in", i.Timeout)
	}
	i.Version, i.Manifests = versionOf().Version, config.Files
	i.Log, i.Changing = a.Err, func() { a.changing = true }
	if err := i.Read(); err != nil {
		return err
	}
	if i.render {
		return i.printManifests(a)
	}
	return i.install(ctx, a)
}

// printManifests prints the objects, a YAML document each.
func (i *installFlags) printManifests(a *app) error {
	objects, err := i.Render()
	if err != nil {
		return err
	}
	for _, object := range objects {
		out, err := document.YAML(object.Object)
		if err != nil {
			return err
		}
		if err := a.Print(append([]byte("---\n"), out...)); err != nil {
			return err
		}
	}
	return nil
}

func (i *installFlags) install(ctx context.Context, a *app) error {
	config, name, err := i.Load()
	if err != nil {
		return err
	}
	cluster, err := a.installable(ctx, config)
	if err != nil {
		return err
	}
	result, err := i.Install(ctx, cluster, name)
	if result == nil {
		return err
	}
	return cmp.Or(i.print(a, result, func() string { return text.Install(result, a.Page(i.wide), a.name) }), err)
}

// installable connects to a cluster that Refit is installed into, or removed from.
func (a *app) installable(ctx context.Context, config *rest.Config) (installation.Cluster, error) {
	if _, err := connect.Reach(ctx, config); err != nil {
		return nil, err
	}
	return a.installer(config)
}
