// Package release reads, signs and verifies ClusterReleases in files, for the `refit release`
// commands.
package release
