package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// metric is something that is counted from the objects.
type metric struct {
	name   string
	help   string
	label  string   // empty: it has none
	values []string // of the label, each of which is always told, if they are known beforehand
	count  func(*objects) []number
}

// number is one value of a metric.
type number struct {
	label string
	value float64
	spent []float64 // of a histogram: seconds
}

// list is every metric that is counted from the objects, in the order in which docs/metrics.md tells of them.
var list = []metric{
	{
		name: "refit_operations", label: "phase", values: phases, count: operations,
		help: "ClusterUpgrades by phase.",
	},
	{
		name: "refit_nodes", label: "state", values: states, count: nodes,
		help: "Nodes by how far the last work on them is.",
	},
	{
		name: "refit_waiting", label: "reason", values: reasons, count: waiting,
		help: "Unfinished ClusterUpgrades that wait, by what they wait for.",
	},
	{
		name: "refit_last_progress_timestamp_seconds", count: lastProgress,
		help: "When something last happened in an unfinished ClusterUpgrade; absent if there is none.",
	},
	{
		name: "refit_stalled_since_timestamp_seconds", count: stalledSince,
		help: "Since when a ClusterUpgrade waits for a person; absent if none does.",
	},
	{
		name: "refit_step_duration_seconds", label: "step", count: stepDurations,
		help: "How long each step of the last work on each node took.",
	},
	{
		name: "refit_drain_duration_seconds", count: drainDurations,
		help: "How long each node took to be emptied the last time.",
	},
}

// evictionsRefused is the one thing that no object tells.
var evictionsRefused = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "refit_evictions_refused_total", Help: "Evictions that a PodDisruptionBudget or the API refused, since this controller was started.",
})

// EvictionsRefused counts evictions that were refused.
func EvictionsRefused(more int64) { evictionsRefused.Add(float64(more)) }

var phases = []string{
	string(refitv1alpha1.PhasePlanning), string(refitv1alpha1.PhaseAwaitingApproval), string(refitv1alpha1.PhaseWaiting), string(refitv1alpha1.PhaseRunning),
	string(refitv1alpha1.PhasePaused), string(refitv1alpha1.PhaseStalled), string(refitv1alpha1.PhaseAborting), string(refitv1alpha1.PhaseSucceeded),
	string(refitv1alpha1.PhaseAborted),
}

// The states of a node that no phase of its agent says.
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
	refitv1alpha1.ReasonReportMissing, refitv1alpha1.ReasonReleaseMissing, refitv1alpha1.ReasonOlderOperation,
}
