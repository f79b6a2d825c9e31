// Command images makes container images of programs that need nothing else, without Docker: one archive each, as `ctr images import` and `docker load` read
// them. The same programs make the same archives.
//
//	go run ./tools/images -repository ghcr.io/refit-dev -tag v0.1.0 -to bin/images refit-agent=bin/refit-agent
package main
