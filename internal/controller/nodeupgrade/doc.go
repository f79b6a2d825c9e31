// Package nodeupgrade does what a NodeUpgrade's status says shall be done with its node, and writes down how far that is: it empties nodes (drain.go), and lets
// Pods try them (trial.go). It decides nothing: the operation's controller begins both, and each belongs to one order by its sequence.
package nodeupgrade
