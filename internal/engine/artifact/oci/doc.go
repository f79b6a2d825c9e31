// Package oci stores signed ClusterReleases, and the public keys of their owners, in registries as
// OCI artifacts. It verifies digests, media types and sizes. A registry is not trusted: the caller
// verifies signatures and fingerprints.
package oci
