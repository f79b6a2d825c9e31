// Package clusterupgrade executes what upgrade/assess decides about an operation. It decides
// nothing itself and keeps no state that is not in an object: a new leader continues at once.
//
//  1. Fence: add the finalizer, and raise the operation's epoch so that a former leader can select
//     no more nodes.
//  2. Assess: observe the cluster, check it until the upgrade has started, plan, and decide what to
//     do next. A decision that disrupts something requires a fresh snapshot.
//  3. Write status: conditions, selected nodes, what the operation waits for; then Events.
//  4. Execute: each action only if what it was decided on is still so.
//
// An operation that has ended is only tidied, from the cache: an idle controller watches, and reads
// nothing.
package clusterupgrade
