package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent/settings"
)

func (a *app) place() *cobra.Command {
	c := &cobra.Command{
		Use:   "place --host DIRECTORY",
		Short: "Install the agent on the host whose root directory is mounted in this container",
		Long: `place does what install does, from within a container: the DaemonSet of refit install runs it. The
container is privileged and has the host's root directory mounted, with the socket of systemd.
place replaces only files that differ, and restarts the service only then. Keys change at any time.
place does not replace an agent during an upgrade: it fails, and the container is restarted.`,
		Example: `  # Install the agent from a Pod
  refit-agent place --host /host --keys /etc/refit-agent --settings /etc/refit-agent/agent.yaml`,
		Args: noArguments,
	}
	root := c.Flags().String("host", "", "mount point of the host's root `directory`")
	keys := c.Flags().String("keys", "", "`directory` of public keys (*.pem), and of pins of backups (stores.yaml); what was removed from it is unpinned")
	given := c.Flags().String("settings", "", "`file` of settings that override those of the host; other fields stay")
	c.RunE = func(c *cobra.Command, _ []string) error {
		b, err := newPlacing(*keys, *given)
		if err != nil {
			return err
		}
		if err := enter("place", *root); err != nil {
			return err
		}
		s := a.site()
		s.settings = settings.File
		defer s.service.Close()
		return a.doPlace(c.Context(), s, b)
	}
	return c
}

// newPlacing reads everything from the container, before its files are out of reach.
func newPlacing(keys, given string) (*bundle, error) {
	b, err := newBundle()
	if err != nil {
		return nil, err
	}
	if keys != "" {
		if err := errors.Join(b.addKeysOf(fromCluster, keys), b.addStoresOf(keys)); err != nil {
			return nil, err
		}
	}
	if given != "" {
		text, err := os.ReadFile(given)
		if err != nil {
			return nil, fmt.Errorf("cannot read the settings for the host: %w", err)
		}
		b.overlay = func(s settings.Settings) (settings.Settings, error) { return s.Overlay(text) }
	}
	return b, nil
}

// doPlace installs a bundle on a host.
func (a *app) doPlace(ctx context.Context, s *site, b *bundle) error {
	changes, err := s.compare(b)
	if err != nil {
		return err
	}
	if err := s.replace(ctx, changes, true); err != nil {
		return err
	}
	if len(changes) == 0 {
		fmt.Fprintln(a.out, "The agent is up to date")
		return nil
	}
	fmt.Fprintf(a.out, "Installed the agent: %s\n", changes)
	return nil
}
