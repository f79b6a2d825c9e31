package restore

import "github.com/refit-dev/refit/internal/upgrade/node"

// Serving is what of a restored cluster serves.
type Serving struct {
	// Members is set if every member of etcd serves.
	Members bool
	// APIServer is set if the API server of this host has its manifest back.
	APIServer bool
}

// Canceling reports whether an operator has canceled a restore.
func Canceling(records []node.Record) bool { return has(records, node.RollbackStarted, "") }

// Stopping reports whether a restore may have stopped the control plane.
func Stopping(records []node.Record) bool { return has(records, node.Started, StopAPIServer) }

// MovedBack reports whether a canceled restore has moved the old data back.
func MovedBack(records []node.Record) bool { return has(records, node.Undone, MoveData) }

// Final returns why a restore cannot be canceled any more, or "". The line is the first API server
// that may have served the restored data: what clients wrote since then would be lost. API servers
// of several hosts start as soon as every member of etcd serves.
func Final(s Situation, records []node.Record, now Serving) string {
	switch {
	case Canceling(records) || !has(records, node.Started, MoveData):
		return ""
	case s == Replace && has(records, node.Started, ReplaceMember):
		return "the former member may be removed from etcd, and the others refuse its data"
	case s == Replace:
		return ""
	case now.APIServer:
		return "the API server of this host has started with the restored data"
	case s == All && now.Members:
		return "every member of etcd serves the restored data, so API servers may have started with it"
	}
	return ""
}
