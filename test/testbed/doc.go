// Package testbed provides real Kubernetes clusters for Go tests. A cluster that a test creates is
// removed when the test ends.
package testbed
