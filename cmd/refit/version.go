package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
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
			if err := f.check(); err != nil {
				return err
			}
			v := versionOf()
			return f.print(a, v, func() string { return text.Version(&v) })
		},
	}
	f.addFlags(cmd)
	return cmd
}

func versionOf() cliv1alpha1.Version {
	v := cliv1alpha1.Version{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindVersion,
		Version: version, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kubernetes: kubefacts.Supported(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v.Version == "" {
		v.Version = builtVersion(info)
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && v.Commit == "" {
			v.Commit = setting.Value
		}
	}
	return v
}

// builtVersion is the version of a binary that was built by `go install module@version`, and
// "development" if it was built in a checkout.
func builtVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "development"
}
