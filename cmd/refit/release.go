package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/cli/text"
)

// releaseCommands are the commands about ClusterReleases.
var releaseCommands = []func(*app) *cobra.Command{
	newReleaseAddCommand,    // create, sign and apply in one
	newReleaseKeyCommand,    // a key pair, once
	newReleaseCreateCommand, // from files or from upstream
	newReleaseSignCommand,   // for hosts to accept it
	newReleaseVerifyCommand, // before it is applied, or when in doubt
	newReleaseShowCommand,   // its content
	newReleaseListCommand,   // those of a cluster
	newReleasePushCommand,   // for others
	newReleasePullCommand,   // of others
}

func newReleaseCommand(a *app) *cobra.Command {
	cmd := a.newGroup(&cobra.Command{
		Use:   "release",
		Short: "Create, sign, verify and publish ClusterReleases",
		Long: `Create, sign and verify ClusterReleases. A ClusterRelease contains what a cluster is upgraded to:
versions, and every binary, package and image by its digest. Its owner signs it, and a host installs
nothing that is not in a ClusterRelease signed by a key that is pinned on the host. A user who can
write to the cluster can therefore only choose between ClusterReleases that you signed.

"release add" creates, signs and applies in one command. To review or sign the content elsewhere, do
it in steps: create a key once; for each version create, sign, kubectl apply.`,
		Example: a.example(
			"# Create a ClusterRelease, sign it and add it to a cluster", "release add v1.36.3 --from /srv/refit",
			"# Create a key pair", "release key create --out keys",
			"# Create a ClusterRelease from files", "release create --kubernetes v1.36.3 --from /srv/refit > v1.36.3.json",
			"# Sign it", "release sign v1.36.3.json --key keys/refit-release.key > v1.36.3.yaml",
			"# Verify its signature and its files", "release verify v1.36.3.yaml --key keys/refit-release.pem --from /srv/refit",
			"# Show its content", "release show v1.36.3.yaml",
			"# Push it to a registry", "release push v1.36.3.yaml oci://registry.example/refit/releases",
		),
	})
	for _, command := range releaseCommands {
		cmd.AddCommand(command(a))
	}
	return cmd
}

// oneFile accepts one file.
func oneFile(what string) cobra.PositionalArgs {
	return accept(arguments.One("name one file: " + what + " (- for stdin)"))
}

func newReleaseListCommand(a *app) *cobra.Command {
	return a.newView(&view{
		use: "list", short: "List the ClusterReleases of a cluster", long: release.ListHelp, args: noArguments,
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
