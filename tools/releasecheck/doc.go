// Command releasecheck checks the artifacts of a release, and that a second build has the same:
//
//   - checksums.txt lists every artifact, and every digest is right.
//   - Each archive unpacks to one binary, LICENSE and README.md. The binary has the format and
//     machine of its platform; that of this platform runs.
//   - Each SPDX document lists every module of its binary.
//   - The images have the binaries of the archives.
//   - krew accepts and installs the manifest of the plugin, and the Homebrew formula has the
//     digests of the archives.
//
// It prints the artifacts with their digests.
//
//	go run ./tools/releasecheck -version v0.1.0 -platforms linux/amd64,darwin/arm64 bin/release
package main
