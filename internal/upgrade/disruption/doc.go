// Package disruption foresees what a drain meets: for every node which pods would have to go, which of them cannot and why, how long it may
// take, which nodes must not be drained together, and whether what goes finds room elsewhere.
//
// It follows the eviction API: a pod may go while its budget allows a disruption, a pod that is not ready goes more easily, and a pod with two
// budgets never goes. What the scheduler would do is not simulated but for requests and taints: selectors, affinities and volumes are left out.
package disruption
