// Package upstream finds the content of ClusterReleases at upstream or a mirror, and proves it.
//
//  1. Read the metadata or the signature of a source, within bounds.
//  2. Verify it: against a pinned key of a package repository, or an identity of sigstore.
//  3. Return digests that the verified document names, and no others.
//
// It downloads no file: hosts do, and compare what they get with the digests.
package upstream
