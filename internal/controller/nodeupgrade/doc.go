// Package nodeupgrade empties the nodes whose NodeUpgrade says that they shall be drained, and writes down how far that is. It decides nothing: the operation's
// controller begins a drain and ends it, by the order's sequence and the drain's phase.
package nodeupgrade
