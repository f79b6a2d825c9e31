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
		Short: "Bring this program onto the host whose root is mounted here, and start it there",
		Long: `place does what install does, from within a container: for the DaemonSet of refit install. The
container is privileged and has the host's root directory mounted; systemd is asked by its socket
in there. Only what differs is replaced, and only then is the service started anew. An agent that
is in the midst of a work is not replaced: place fails, and is tried again.`,
		Example: `  refit-agent place --host /host --keys /etc/refit-agent --settings /etc/refit-agent/agent.yaml`,
		Args:    cobra.NoArgs,
	}
	root := c.Flags().String("host", "", "where the host's root directory is mounted")
	keys := c.Flags().String("keys", "", "directory of public keys (*.pem) to pin; one that was pinned from there before and is no longer in it goes")
	given := c.Flags().String("settings", "", "file of settings to write over the host's; fields that it does not name stay")
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

// newPlacing reads everything that comes from the container, before its files are out of reach.
func newPlacing(keys, given string) (*bundle, error) {
	b, err := newBundle()
	if err != nil {
		return nil, err
	}
	if keys != "" {
		if err := b.addKeysOf(byCluster, keys); err != nil {
			return nil, err
		}
	}
	if given != "" {
		text, err := os.ReadFile(given)
		if err != nil {
			return nil, fmt.Errorf("reading the settings for the host: %w", err)
		}
		b.over = func(s settings.Settings) (settings.Settings, error) { return s.Overlay(text) }
	}
	return b, nil
}

// doPlace brings a bundle to a host.
func (a *app) doPlace(ctx context.Context, s *site, b *bundle) error {
	changes, err := s.compare(b)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		if err := s.start(ctx, false); err != nil {
			return err
		}
		fmt.Fprintln(a.out, "the agent is in place")
		return nil
	}
	// Between two looks an order may come, so the second is at a host on which no agent works.
	lock, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(s.make(changes), lock.Close())
	// Also after an error: half a change is no reason to leave a host without its agent.
	if err := errors.Join(err, s.start(ctx, true)); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "the agent is placed: %s\n", changes)
	return nil
}
