// Command images builds container images of static binaries without Docker: one archive each, in
// the OCI layout, for `ctr images import` and `skopeo copy --all oci-archive:`. An image has a
// platform for each of its binaries. The archives are reproducible.
//
//	go run ./tools/images -repository ghcr.io/refit-dev -tag v0.1.0 refit-agent=amd64/refit-agent
package main
