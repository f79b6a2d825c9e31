package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newReleaseShowCommand(a *app) *cobra.Command {
	f := &format{}
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show the content of a ClusterRelease",
		Long: `Show the content of a ClusterRelease: a file from "release create" or "release sign", or an object
from a cluster. The signature is not verified; use "release verify" for that.`,
		Example: a.example("# Show a ClusterRelease", "release show v1.36.3.yaml", "# Print it as YAML", "release show v1.36.3.json -o yaml"),
		Args:    oneFile("a ClusterRelease"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			file, err := release.Load(args[0], a.ReadFile)
			if err != nil {
				return err
			}
			document, err := file.Show()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return a.PrintAs(&f.Format, document, func() string { return text.Release(&document) })
		},
	}
	f.addFlags(cmd)
	return cmd
}
