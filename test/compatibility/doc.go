// Package compatibility lists the kinds of clusters and hosts that Refit upgrades or refuses, with
// the test or the check behind each. docs/compatibility.md is generated from it, and its own tests
// fail if a named test, check or reason does not exist.
package compatibility
