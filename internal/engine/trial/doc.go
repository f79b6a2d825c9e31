// Package trial lets a Pod try a node: whether it starts there, finds the API by its name and reaches it. That is what users feel of a node, and no part of a
// control plane can tell it of itself.
//
//  1. Take the agents' image, which every node has.
//  2. Make the Pod on the node, past the scheduler, in a namespace where the strictest Pod Security holds. One that a former trial left is removed first.
//  3. Watch it until it has ended, and find out why if it has not ended well.
//  4. Remove it.
package trial
