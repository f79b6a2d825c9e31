package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// version and commit are set by the build of a release:
//
//	go build -ldflags "-X main.version=v1.2.3 -X main.commit=…"
var version, commit string

func newVersionCommand(a *app) *cobra.Command {
	f := &format{}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of Refit",
		Long: `Print the version and commit of Refit, the version of Go that it was built with, and the minor
versions of Kubernetes that it supports.`,
		Example: a.example("# Print the version", "version", "# Print the version as JSON", "version -o json"),
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			v := versionOf()
			return a.PrintAs(&f.Format, v, func() string { return text.Version(&v) })
		},
	}
	f.addFlags(cmd)
	return cmd
}

func versionOf() cliv1alpha1.Version {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return progress.NewVersion(version, commit, build)
}
