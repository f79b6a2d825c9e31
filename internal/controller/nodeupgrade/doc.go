// Package nodeupgrade runs what the status of a NodeUpgrade requests for its node, and reports the
// progress there: it drains nodes (drain.go) and runs trial Pods on them (trial.go). It decides
// nothing: the ClusterUpgrade controller starts both, and each belongs to one order by its
// sequence.
package nodeupgrade
