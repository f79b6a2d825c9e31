// Package components tests the component agent on a real API server without nodes: upgrades by
// order, kills at its writes, rollbacks, and what it refuses.
package components
