// Package drain empties a node: by watch, not by poll, with every budget respected.
//
//  1. One watch tells which pods are on the node; choose.go says which of them have to go, and in which order.
//  2. They are asked to go through the eviction API, a few at a time. What it answers is read in answer.go.
//  3. A budget that refuses is watched by itself, and none of its pods is asked again before it changes; budget.go knows what it allows.
//  4. When none is left, one live read confirms it: a watch may be frozen.
//
// What is known of the node is one value, the view. One goroutine changes it, time is passed in, and whom to ask next is a function of it.
// A pod is never ended by force: it has its own time to end, and one that outlives it is named.
package drain
