package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
)

// kubeletConf is the kubeconfig with the identity of the node.
const kubeletConf = "/etc/kubernetes/kubelet.conf"

func (a *app) run() *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground, like the service",
		Args:  noArguments,
	}
	keys := c.Flags().String("keys", settings.Keys, "`directory` of the public keys that may sign ClusterReleases")
	kubeconfig := c.Flags().String("kubeconfig", kubeletConf, "kubeconfig `file` of the node")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := a.load()
		if err != nil {
			return err
		}
		return agent.Run(c.Context(), agent.Config{
			Settings: s, KeysDir: *keys, Kubeconfig: *kubeconfig, Version: version, Socket: agentsocket.Path, Log: a.logger(),
		})
	}
	return c
}
