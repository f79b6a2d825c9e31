// Package plan decides. Make turns a Snapshot and a policy into a Plan: the stages from what a cluster is to what it should be,
// each decision with its reason. Next looks at a Plan and at a fresh Snapshot and returns what to do now, and what is being waited for.
//
// Both are pure. Next remembers nothing: a decider that was just born, from an empty memory, comes to the same decision as one that has
// followed the operation from its start. What it returns becomes true only through the fences that carry it out: a claim is an update of the
// operation that names the version it was decided on, an order carries epoch and sequence.
//
// Everything that must hold before something is disrupted is a Gate, and all gates are in one list, gates.go.
package plan
