// Package assess turns one observation of a cluster into everything that follows from it: the
// preflight findings, the plan, what blocks the upgrade, and what to do next.
//
// The CLI calls Preview before an upgrade exists, the controller calls Operation on every
// reconciliation. Neither decides anything itself. Both functions are pure: the same Snapshot at
// the same time yields the same Assessment.
//
// A decision is only as good as the Snapshot it is made on: Judge reports whether the
// Snapshot is recent enough for that decision.
package assess
