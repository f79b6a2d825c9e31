package metrics

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// metric is counted from the objects.
type metric struct {
	name   string
	help   string
	label  string   // empty: none
	values []string // of the label, each of which is always reported; empty if they are not known in advance
	count  func(*objects) []number
}

// number is one value of a metric.
type number struct {
	label     string
	value     float64
	durations []float64 // of a histogram, in seconds
}

// list is every metric that is counted from the objects, in the order of docs/metrics.md.
var list = []metric{
	{
		name: "refit_operations", label: "phase", values: phases, count: operations,
		help: "ClusterUpgrades by phase.",
	},
	{
		name: "refit_nodes", label: "state", values: states, count: nodes,
		help: "Nodes by the state of their last upgrade.",
	},
	{
		name: "refit_waiting", label: "reason", values: reasons, count: waiting,
		help: "Unfinished ClusterUpgrades that wait, by reason.",
	},
	{
		name: "refit_stuck_nodes", label: "reason", values: reasons, count: stuckNodes,
		help: "Nodes for which an unfinished ClusterUpgrade requires manual intervention, by reason, also while others progress.",
	},
	{
		name: "refit_last_progress_timestamp_seconds", count: lastProgress,
		help: "Time of the last progress of an unfinished ClusterUpgrade; absent if there is none.",
	},
	{
		name: "refit_stalled_since_timestamp_seconds", count: stalledSince,
		help: "Time since when a ClusterUpgrade requires manual intervention; absent if none does.",
	},
	{
		name: "refit_step_duration_seconds", label: "step", count: stepDurations,
		help: "Duration of each step of the last upgrade of each node.",
	},
	{
		name: "refit_drain_duration_seconds", count: drainDurations,
		help: "Duration of the last drain of each node.",
	},
}

var phases = []string{
	string(refitv1alpha1.PhasePlanning), string(refitv1alpha1.PhaseAwaitingApproval), string(refitv1alpha1.PhaseWaiting), string(refitv1alpha1.PhaseRunning),
	string(refitv1alpha1.PhasePaused), string(refitv1alpha1.PhaseStalled), string(refitv1alpha1.PhaseAborting), string(refitv1alpha1.PhaseSucceeded),
	string(refitv1alpha1.PhaseAborted),
}

// The states of a node that are no phase of a NodeUpgrade.
const (
	stateDraining     = "Draining"
	stateDrainBlocked = "DrainBlocked"
	stateSkipped      = "Skipped"
)

var states = []string{
	string(refitv1alpha1.NodeIdle), string(refitv1alpha1.NodePrefetching), string(refitv1alpha1.NodePrefetched), stateDraining, stateDrainBlocked, stateSkipped,
	string(refitv1alpha1.NodeApplying), string(refitv1alpha1.NodeSucceeded), string(refitv1alpha1.NodeFailed), string(refitv1alpha1.NodeRollingBack),
	string(refitv1alpha1.NodeRolledBack),
}

var reasons = []string{
	refitv1alpha1.ReasonWaiting, refitv1alpha1.ReasonPaused, refitv1alpha1.ReasonBlocked, refitv1alpha1.ReasonApprovalRequired, refitv1alpha1.ReasonPlanChanged,
	refitv1alpha1.ReasonNodeFailed, refitv1alpha1.ReasonNodesSkipped, refitv1alpha1.ReasonDrainBlocked, refitv1alpha1.ReasonNodeUnavailable,
	refitv1alpha1.ReasonControlPlaneUnhealthy, refitv1alpha1.ReasonTrialRunning, refitv1alpha1.ReasonTrialFailed, refitv1alpha1.ReasonSkew,
	refitv1alpha1.ReasonReportMissing, refitv1alpha1.ReasonReleaseMissing, refitv1alpha1.ReasonClockSkewed, refitv1alpha1.ReasonOlderOperation,
	refitv1alpha1.ReasonBackupPending, refitv1alpha1.ReasonBackupFailed, refitv1alpha1.ReasonRehearsalFailed,
	refitv1alpha1.ReasonComponentWaiting, refitv1alpha1.ReasonComponentFailed,
}
