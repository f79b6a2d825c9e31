// Package agent upgrades real clusters with refit-agent on every node. It kills the agent at every
// point, cuts the power, breaks the agent's dependencies, and compares every end state with that of
// an undisturbed upgrade. The tests observe only what a user can: objects, binaries and hosts.
package agent
