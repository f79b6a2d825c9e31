package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
)

func (a *app) undo() *cobra.Command {
	c := &cobra.Command{
		Use:   "undo",
		Short: "Put this host back to what it was before the last work, without the API",
		Long: `undo puts the host back by hand: for the day on which there is no API to order it. The service
must be stopped (systemctl stop refit-agent), and started again afterwards. What goes back and
what stays is what "refit-agent steps" prints.`,
		Args: cobra.NoArgs,
	}
	keys := c.Flags().String("keys", settings.Keys, "directory of the public keys whose ClusterReleases may be installed")
	yes := c.Flags().Bool("yes", false, "do it; without this flag only what would be done is printed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := a.load()
		if err != nil {
			return err
		}
		if !*yes {
			status, err := agent.Status(s)
			if err != nil {
				return err
			}
			a.printStatus(status)
			fmt.Fprintln(a.out, "\nNothing was done. Say refit-agent undo --yes to put the host back.")
			return nil
		}
		status, err := agent.Undo(c.Context(), agent.Config{Settings: s, KeysDir: *keys, Kubeconfig: kubeletConf, Version: version, Log: a.logger()})
		if err != nil {
			return err
		}
		a.printStatus(status)
		return nil
	}
	return c
}

func (a *app) forget() *cobra.Command {
	return &cobra.Command{
		Use:   "forget",
		Short: "Accept programs on this host as they are now, after somebody else replaced them",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.load()
			if err != nil {
				return err
			}
			n, err := agent.Forget(s)
			if err == nil {
				fmt.Fprintf(a.out, "%d programs are accepted as they are. Start the service again: systemctl start refit-agent\n", n)
			}
			return err
		},
	}
}
