// Package disruption predicts drains: which pods of a node a drain moves, which of them cannot be
// evicted and why, how long a drain may take, which nodes must not be drained together, and whether
// the pods fit on other nodes.
//
// It follows the eviction API: a pod may be evicted while its budget allows a disruption, a pod
// that is not ready more easily, and a pod with two budgets never. Of the scheduler it considers
// requests and taints only, not selectors, affinities and volumes.
package disruption
