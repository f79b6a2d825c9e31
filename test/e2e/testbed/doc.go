// Package testbed tests the testbed itself on real clusters, and measures the baseline that Refit
// is compared with.
package testbed
