// Package assess derives everything from one observation of a cluster: the preflight findings, the
// plan, the blocking finding, and what to do next.
//
// The CLI calls Preview before an upgrade exists, the controller calls Operation on every
// reconciliation. Neither decides anything itself. Both functions are pure: the same Snapshot at
// the same time yields the same Assessment.
//
// A decision is only as good as its Snapshot: Judge reports whether the Snapshot is recent enough
// for that decision.
package assess
