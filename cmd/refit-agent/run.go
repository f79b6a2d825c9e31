package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
)

// kubeletConf is the node's own identity.
const kubeletConf = "/etc/kubernetes/kubelet.conf"

func (a *app) run() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Work as the service does: take orders, carry them out, tell the cluster",
		Args:  cobra.NoArgs,
	}
	keys := c.Flags().String("keys", settings.Keys, "directory of the public keys whose ClusterReleases may be installed")
	kubeconfig := c.Flags().String("kubeconfig", kubeletConf, "the node's kubeconfig")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := a.load()
		if err != nil {
			return err
		}
		return agent.Run(c.Context(), agent.Config{Settings: s, KeysDir: *keys, Kubeconfig: *kubeconfig, Version: version, Log: a.logger()})
	}
	return c
}
