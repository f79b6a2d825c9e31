package main

import (
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// stepDurations are durations of steps on the testbed. Others take a second.
var stepDurations = map[string]time.Duration{
	node.StepFetch: 6 * time.Second, node.StepImages: 11 * time.Second, node.StepSave: 2 * time.Second, node.StepStage: 2 * time.Second,
	node.StepPreflight: 2 * time.Second, node.StepEtcd: 9 * time.Second, node.StepAPIServer: 14 * time.Second, node.StepControllers: 5 * time.Second,
	node.StepKubelet: 6 * time.Second, node.StepAddon: 4 * time.Second, node.StepVerify: 2 * time.Second, node.StepVerifyOld: 3 * time.Second,
}

// history is the journal of an upgrade to its end, after its first record. The steps in failing
// fail. Each move is the one that an agent makes.
func history(u node.Upgrade, failing map[string]*node.Failure) []node.Record {
	at := orderTime
	records := []node.Record{{At: at, Kind: node.Opened, Upgrade: &u}, apply()}
	records[1].At = at
	note := func(r node.Record, after time.Duration) {
		at = at.Add(after)
		r.At = at
		records = append(records, r)
	}
	for {
		move := node.Next(records)
		name := move.Step.Name
		takes := max(time.Second, stepDurations[name])
		switch move.Kind {
		case node.MoveRun:
			note(node.Record{Kind: node.Started, Step: name}, 0)
			end := node.Record{Kind: node.Done, Step: name}
			if failure := failing[name]; failure != nil {
				end.Kind, end.Failure = node.Failed, failure
			}
			note(end, takes)
		case node.MoveRollback:
			note(node.Record{Kind: node.RollbackStarted, Failure: move.Cause}, 0)
		case node.MoveUndo:
			note(node.Record{Kind: node.UndoStarted, Step: name}, 0)
			note(node.Record{Kind: node.Undone, Step: name}, takes)
		case node.MoveKeep:
			note(node.Record{Kind: node.Kept, Step: name}, 0)
		case node.MoveFinish:
			note(node.Record{Kind: node.Finished, Outcome: move.Outcome}, 0)
		case node.MoveWait:
			return records[1:]
		}
	}
}

// until cuts a journal after the first record of a kind and a step.
func until(records []node.Record, kind node.Kind, step string) []node.Record {
	return records[:1+slices.IndexFunc(records, func(r node.Record) bool { return r.Kind == kind && r.Step == step })]
}
