// Package plan decides. Make turns a Snapshot and a policy into a Plan: the stages from the
// cluster's current state to the target, each decision with its reason. Next takes a Plan and a
// fresh Snapshot and returns what to do now and what the operation waits for.
//
// Both are pure. Next keeps no state: a controller that has just started comes to the same decision
// as one that has followed the operation from its start. A decision takes effect only through the
// fences that execute it: a claim is an update of the operation that names the resourceVersion it
// was decided on, an order carries an epoch and a sequence.
//
// Every condition that must hold before something starts, continues or ends is a gate, and all
// gates are in one table, gates.go. All kinds of stages are in another, stage_table.go.
package plan
