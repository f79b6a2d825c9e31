// Package agent upgrades real clusters with refit-agent on every node, kills it at every point, cuts the power, breaks what it stands on, and holds
// every end against that of an upgrade that nobody disturbed. The tests see what a user sees: the objects, the programs, the hosts.
package agent
