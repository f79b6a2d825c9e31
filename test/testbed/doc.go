// Package testbed gives Go tests real Kubernetes clusters with the powers of the
// testbed command: a cluster that a test makes is gone when the test ends.
package testbed
