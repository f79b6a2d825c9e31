package main

import "github.com/spf13/cobra"

func (a *app) pause() *cobra.Command {
	return &cobra.Command{
		Use:   "pause",
		Short: "Do nothing until told to end",
		Long:  `pause keeps a pod running whose work was done by an init container.`,
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			<-c.Context().Done()
			return nil
		},
	}
}
