package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

func (a *app) install() *cobra.Command {
	c := &cobra.Command{
		Use:   "install --key PUBLIC.pem",
		Short: "Install the agent on this host, pin keys and start the service",
		Long: `install copies this binary to ` + binaryFile + `, writes its systemd unit and pins
the given public keys in ` + settings.Keys + `. It writes ` + settings.File + ` if the file does not
exist or if settings are given, and starts the service. You can run it again: it replaces only files
that differ. During an upgrade it pins keys, but does not replace the agent.`,
		Example: `  # Install the agent with a mirror as its source
  refit-agent install --key refit-release.pem --source https://mirror.example/refit

  # Install the agent with a local directory and kubeadm patches
  refit-agent install --key refit-release.pem --source /srv/refit --patches /etc/kubernetes/patches`,
		Args: noArguments,
	}
	o := installOptions{}
	c.Flags().StringArrayVar(&o.keys, "key", nil, "`file` of a public key that may sign ClusterReleases; can be repeated")
	c.Flags().StringArrayVar(&o.sources, "source", nil, "`source` of files: a directory, https://..., http://... or oci:/path; can be repeated, tried in order")
	c.Flags().StringVar(&o.patches, "patches", "", "`directory` of kubeadm patches on this host")
	c.Flags().StringArrayVar(&o.ignore, "ignore-preflight-error", nil, "kubeadm preflight `check` whose errors are ignored on this host; can be repeated")
	c.Flags().BoolVar(&o.noStart, "no-start", false, "install, but do not start the service")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.doInstall(c.Context(), o) }
	return c
}

type installOptions struct {
	keys, sources, ignore []string
	patches               string
	noStart               bool
}

func (o *installOptions) givesSettings() bool {
	return len(o.sources) > 0 || o.patches != "" || len(o.ignore) > 0
}

// overlay applies the given settings.
func (o *installOptions) overlay(s settings.Settings) (settings.Settings, error) {
	if len(o.sources) > 0 {
		s.Sources = o.sources
	}
	if o.patches != "" {
		s.Kubeadm.Patches = o.patches
	}
	if len(o.ignore) > 0 {
		s.Kubeadm.IgnorePreflightErrors = o.ignore
	}
	return s, nil
}

func (a *app) doInstall(ctx context.Context, o installOptions) error {
	if err := needsRoot("install"); err != nil {
		return err
	}
	s := a.site()
	defer s.service.Close()
	b, err := newBundle()
	if err != nil {
		return err
	}
	if err := b.addKeys(manual, o.keys...); err != nil {
		return err
	}
	if o.givesSettings() {
		b.overlay = o.overlay
	}
	return a.installOn(ctx, s, b, o)
}

// installOn installs a bundle on a host.
func (a *app) installOn(ctx context.Context, s *site, b *bundle, o installOptions) error {
	changes, err := s.compare(b)
	if err != nil {
		return err
	}
	if err := s.replace(ctx, changes, !o.noStart); err != nil {
		return err
	}
	for _, key := range b.keys {
		fmt.Fprintf(a.out, "Pinned key %s\n", key.id)
	}
	fmt.Fprintf(a.out, "Installed %s and %s\n", binaryFile, unitFile)
	if o.noStart {
		return nil
	}
	fmt.Fprintln(a.out, "Started the service. To follow its log, run: journalctl -u refit-agent -f")
	return nil
}

// checkSources returns an error for a source that the agent does not support.
func checkSources(sources []string) error {
	for _, source := range sources {
		if _, err := artifact.ParseSource(source); err != nil {
			return err
		}
	}
	return nil
}
