package main

import (
	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/release"
)

func newReleasePushCommand(a *app) *cobra.Command {
	r := &release.Registry{Log: a.Err}
	cmd := &cobra.Command{
		Use:   "push FILE oci://HOST/REPOSITORY[:TAG]",
		Short: "Push a signed ClusterRelease to a registry",
		Long: `Push a signed ClusterRelease to a registry as an OCI artifact, and beside it the public key that
signed it, under a tag with its fingerprint. Print the address with the digest. The default tag is
the version of Kubernetes; a tag that has other content already is refused.

The command verifies the signature first, with your own key and the public keys in the directory
keys of your configuration, or with --key. It uses the credentials of "docker login".`,
		Example: a.example("# Push a ClusterRelease", "release push v1.36.3.yaml oci://registry.example/refit/releases --key keys/refit-release.pem"),
		Args:    accept(arguments.Exactly(2, "name a file with a signed ClusterRelease (- for stdin) and an address: oci://HOST/REPOSITORY[:TAG]")),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := r.Push(cmd.Context(), args[0], a.ReadFile, args[1])
			if err != nil {
				return err
			}
			return a.Print([]byte(address + "\n"))
		},
	}
	addRegistryFlags(cmd, r)
	return cmd
}

func newReleasePullCommand(a *app) *cobra.Command {
	r, out := &release.Registry{Log: a.Err}, ""
	cmd := &cobra.Command{
		Use:   "pull oci://HOST/REPOSITORY:TAG",
		Short: "Pull a signed ClusterRelease from a registry and verify it",
		Long: `Pull a signed ClusterRelease from a registry and print it for "kubectl apply --server-side", if a
key that you trust signed it: your own and the public keys in the directory keys of your
configuration, or those of --key and --fingerprint. Instead of a tag, the address can have a digest
(@sha256:...). A tag that is a version must be that of the ClusterRelease.`,
		Example: a.example(
			"# Pull a ClusterRelease and apply it", "release pull oci://registry.example/refit/releases:v1.36.3 | kubectl apply --server-side -f -",
			"# Save one that a key with this fingerprint signed",
			"release pull oci://registry.example/refit/releases:v1.36.3 --fingerprint SHA256:50TAeRMgwyhUYO3bUj8UyI2FetpGuXpWkNiM+Xi5GR8 --out v1.36.3.yaml",
		),
		Args: accept(arguments.Exactly(1, "name an address: oci://HOST/REPOSITORY:TAG or oci://HOST/REPOSITORY@sha256:DIGEST")),
		RunE: func(cmd *cobra.Command, args []string) error { return r.PullTo(cmd.Context(), out, args[0], a.Print) },
	}
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write (default standard output)")
	addRegistryFlags(cmd, r)
	cmd.Flags().StringArrayVar(&r.Fingerprints, "fingerprint", nil,
		"the `FINGERPRINT` of a key that you trust and that the repository has (SHA256:...); can be repeated")
	cmd.Flags().StringVar(&r.Name, "name", "", "the ClusterRelease's `NAME`, which is not signed (default kubernetes-VERSION)")
	return cmd
}

func addRegistryFlags(cmd *cobra.Command, r *release.Registry) {
	cmd.Flags().StringArrayVar(&r.KeyFiles, "key", nil, "a public key's `FILE`, or a directory of public keys; can be repeated")
	cmd.Flags().BoolVar(&r.PlainHTTP, "plain-http", false, "access the registry without TLS, as is the default for one on this machine")
	cmd.Flags().SortFlags = false
}
