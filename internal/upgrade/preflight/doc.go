// Package preflight checks a Snapshot for problems that block an upgrade or deserve a warning.
// Each problem is a Finding with an object, a message and a remedy.
//
// A check is a function named after the problem that it finds; checks.go lists all of them. A check
// reads only the Snapshot. If a fact was not observed, the finding is Unknown, and it blocks if the
// check guards safety.
package preflight
