// Package bed is the base of the end-to-end tests: a real cluster of the testbed, the binaries
// built from this source, ClusterReleases created with the CLI, a server for their files, and
// checks of hosts and objects.
package bed
