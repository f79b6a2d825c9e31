// Package steps implements the steps of package node on a real host: what each step does, how the
// agent probes it after a crash, and how it undoes it.
package steps
