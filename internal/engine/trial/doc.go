// Package trial runs a Pod on a node to check that it starts there, resolves the API server's name
// and reaches it. Users of a node depend on that, and no component of a control plane can report
// it.
//
//  1. Take the image of the agents, which every node has.
//  2. Create the Pod on the node, without the scheduler, in a namespace with the restricted Pod
//     Security Standard. The Pod of a former trial is deleted first.
//  3. Watch it until it has ended, and find the reason if it has failed.
//  4. Delete it.
package trial
