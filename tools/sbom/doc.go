// Command sbom writes the bill of materials of a Go binary as SPDX 2.3 in JSON: the modules that
// the linker recorded in the binary, and Go's standard library. It reads only the binary, so it
// also lists the modules of binaries for other platforms. The same binary and flags give the same
// document.
//
//	go run ./tools/sbom -version v0.1.0 -commit 0123abcd -to refit.spdx.json bin/refit
package main
