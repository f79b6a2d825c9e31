// Package release reads, signs and verifies Releases in files, for the `refit release` commands.
package release
