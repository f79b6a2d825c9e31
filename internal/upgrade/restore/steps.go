package restore

import (
	"slices"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Step is one step of a host, and what it does.
type Step struct{ Name, Does string }

// The names of the steps.
const (
	StopAPIServer  = "stop-api-server"
	StopEtcd       = "stop-etcd"
	RestoreData    = "restore-data"
	MoveData       = "move-data"
	ReplaceMember  = "replace-member"
	StartEtcd      = "start-etcd"
	JoinEtcd       = "join-etcd"
	StartAPIServer = "start-api-server"
)

var (
	stopAPIServer = Step{StopAPIServer, "moves the manifest of kube-apiserver away and waits until it has ended"}
	stopEtcd      = Step{StopEtcd, "moves the manifest of etcd away and waits until it has ended"}
	restoreData   = Step{RestoreData, "restores the backup beside the data of etcd, with a bumped revision and a compaction mark"}
	moveData      = Step{MoveData, "moves the old data of etcd aside, where it stays, and the restored data into its place"}
	startEtcd     = Step{StartEtcd, "moves the manifest of etcd back and waits until it runs"}
	startServer   = Step{StartAPIServer, "once every member serves, moves the manifest of kube-apiserver back and waits until it is ready"}

	clearData     = Step{MoveData, "moves the old data of etcd aside, where it stays"}
	replaceMember = Step{ReplaceMember, "removes the lost member from etcd and adds this host as a learner"}
	joinEtcd      = Step{JoinEtcd, "starts etcd without data, waits until it has copied that of the others, and promotes it"}
)

// Steps returns the steps of a situation, in order. A step that can fail without harm is first. The
// API server stops before etcd and starts last: it must never see its data change.
func Steps(s Situation) []Step {
	if s == Replace {
		return []Step{stopAPIServer, stopEtcd, clearData, replaceMember, joinEtcd, startServer}
	}
	return []Step{restoreData, stopAPIServer, stopEtcd, moveData, startEtcd, startServer}
}

// Next returns the first step that the records of a journal do not have as done; ok is false after
// the last one.
func Next(s Situation, records []node.Record) (step Step, ok bool) {
	for _, step := range Steps(s) {
		if !has(records, node.Done, step.Name) {
			return step, true
		}
	}
	return Step{}, false
}

// NeedsSnapshot reports whether a step that is not done reads the snapshot.
func NeedsSnapshot(s Situation, records []node.Record) bool {
	return s != Replace && !has(records, node.Done, RestoreData)
}

// has reports whether a journal has a record of a kind for a step.
func has(records []node.Record, kind node.Kind, step string) bool {
	return slices.ContainsFunc(records, func(r node.Record) bool { return r.Kind == kind && r.Step == step })
}
