// Package upstreamtest is an instance of sigstore for tests: it issues certificates, and has a
// transparency log with the API of Rekor.
package upstreamtest
