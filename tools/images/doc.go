// Command images builds container images of static binaries without Docker: one archive each, for
// `ctr images import` and `docker load`. The archives are reproducible.
//
//	go run ./tools/images -repository ghcr.io/refit-dev -tag v0.1.0 refit-agent=bin/refit-agent
package main
