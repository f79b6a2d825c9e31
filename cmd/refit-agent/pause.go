package main

import "github.com/spf13/cobra"

func (a *app) pause() *cobra.Command {
	return &cobra.Command{
		Use:   "pause",
		Short: "Wait until the process is terminated",
		Long:  `pause keeps a Pod running after its init container has finished.`,
		Args:  noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			<-c.Context().Done()
			return nil
		},
	}
}
