package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

func (a *app) install() *cobra.Command {
	c := &cobra.Command{
		Use:   "install --key PUBLIC.pem",
		Short: "Install this program as a service on this host, pin keys, and start it",
		Long: `install copies this program to ` + program + `, writes its unit, pins the given public keys in ` + settings.Keys + `,
writes ` + settings.File + ` if there is none or if settings are given, and starts the service. It can be repeated.`,
		Example: `  refit-agent install --key release.pub.pem --source https://mirror.example/refit
  refit-agent install --key release.pub.pem --source /srv/refit --patches /etc/kubernetes/patches`,
		Args: cobra.NoArgs,
	}
	o := installOptions{}
	c.Flags().StringArrayVar(&o.keys, "key", nil, "public key file whose ClusterReleases may be installed; can be repeated")
	c.Flags().StringArrayVar(&o.sources, "source", nil, "where files come from: a folder, an http(s) address, oci:/path; can be repeated, tried in order")
	c.Flags().StringVar(&o.patches, "patches", "", "directory of kubeadm patches on this host")
	c.Flags().StringArrayVar(&o.ignore, "ignore-preflight-error", nil, "check of kubeadm whose error does not matter on this host; can be repeated")
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

// over writes what was given over what is there.
func (o *installOptions) over(s settings.Settings) (settings.Settings, error) {
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
	if err := b.addKeys(byHand, o.keys...); err != nil {
		return err
	}
	if o.givesSettings() {
		b.over = o.over
	}
	changes, err := s.compare(b)
	if err != nil {
		return err
	}
	if err := s.make(changes); err != nil {
		return err
	}
	for _, key := range b.keys {
		fmt.Fprintf(a.out, "key %s is pinned\n", key.id)
	}
	fmt.Fprintf(a.out, "%s and %s are in place\n", program, unitFile)
	if o.noStart {
		return nil
	}
	if err := s.start(ctx, len(changes) > 0); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "the service runs: journalctl -u refit-agent")
	return nil
}

func needsRoot(command string) error {
	if os.Geteuid() != 0 {
		return errors.New(command + " needs root")
	}
	return nil
}

// checkSources refuses a source that the agent would not understand.
func checkSources(sources []string) error {
	for _, source := range sources {
		if _, err := artifact.ParseSource(source); err != nil {
			return err
		}
	}
	return nil
}
