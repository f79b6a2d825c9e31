// Package helm renders charts and changes releases with Helm as a library. Helm's own record of a
// release, a Secret for each revision, stays the only record, so that `helm history` and `helm
// rollback` work before, during and after an upgrade.
//
//  1. Render renders a chart for a version of Kubernetes and a set of API versions, without a
//     cluster.
//  2. KeepCRDs annotates the CRDs of a release, so that Helm never deletes them; CRDs are changed
//     elsewhere.
//  3. Adopt writes a revision that is equal to the deployed one, but has no CRDs.
//  4. Wave upgrades some of the objects and keeps the others. The last wave runs the hooks.
//  5. Rollback returns to a revision.
//  6. Sweep deletes objects that a killed action left.
//
// A kill at any time is an ordinary event. Each revision carries a Mark in its description. An
// action first reads the record: a deployed revision with its own mark means that it is complete;
// a pending one is unlocked, and the action is repeated in the same direction. A pending revision
// without a mark belongs to another client of Helm, and the action returns a PendingError.
//
// All requests pass a transport that closes with the lease of the leader. Helm continues after its
// context is canceled, so contexts alone do not stop a former leader.
package helm
