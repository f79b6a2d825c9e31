// Package preflight looks at a Snapshot and tells what stands in the way of an upgrade: Findings, each with an object, a message
// and a remedy that a person can carry out.
//
// A check is a function named after what is wrong. All of them are in one list, checks.go. They read the Snapshot and nothing else.
// An answer is three-valued: where a fact is not known the finding is Unknown, and blocks when safety is at stake.
package preflight
