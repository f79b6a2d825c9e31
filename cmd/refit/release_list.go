package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

func newReleaseListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "list", short: "List the ClusterReleases of a cluster", args: noArguments,
		long: `List the ClusterReleases of a cluster: the version of Kubernetes, the age, the components, who uses
it, and the key that signed it. Users are operations in progress, and hosts that have verified it.

The command does not verify signatures: hosts do so before they fetch anything, and "release verify"
does so for a file.`,
		example: []string{"# List the ClusterReleases", "release list", "# Print the list as JSON", "release list -o json"},
		read: func(r *reading) (any, func() string, error) {
			all, err := r.Releases(r.Context())
			if err != nil {
				return nil, nil, err
			}
			operations, err := r.List(r.Context())
			list := release.NewList(r.Cluster.Name, all, operations)
			return list, func() string { return text.Releases(list, a.Now(), a.name) }, err
		},
	})
}
