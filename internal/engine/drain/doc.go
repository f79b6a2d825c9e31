// Package drain drains a node: it watches instead of polling, and respects every
// PodDisruptionBudget.
//
//  1. One watch has the pods of the node; candidates.go decides which of them must leave, and in
//     which order.
//  2. They are evicted through the eviction API, a few at a time; response.go classifies its
//     errors.
//  3. A budget that refuses is watched by itself, and none of its pods is evicted again before it
//     changes; budget.go computes what it allows.
//  4. When no pod is left, one live read confirms it: a watch may be frozen.
//
// The state of a drain is one value, the view. One goroutine changes it, time is passed in, and the
// next requests are a function of it. No pod is killed: each has its grace period, and one that
// exceeds it is reported.
package drain
