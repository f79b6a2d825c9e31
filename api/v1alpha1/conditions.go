package v1alpha1

// The condition types of a ClusterUpgrade. Ready, Reconciling and Stalled are read by kstatus, and so by `kubectl wait`, Helm and GitOps tools.
const (
	// ConditionReady is True when the operation reached its target. It is a summary, with one writer.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operation has something to do or to wait for.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True when the operation cannot go on without a person.
	ConditionStalled = "Stalled"
	// ConditionPreflight is True when no finding blocks.
	ConditionPreflight = "PreflightPassed"
	// ConditionPlanned is True when there is a plan.
	ConditionPlanned = "Planned"
	// ConditionApproved is True when the plan's hash is the approved one.
	ConditionApproved = "Approved"
	// ConditionQueued is True while an older operation is unfinished.
	ConditionQueued = "Queued"
)

// The reasons of those conditions.
const (
	// ReasonSucceeded: every node of the plan is at the target and proven.
	ReasonSucceeded = "Succeeded"
	// ReasonProgressing: work is being done.
	ReasonProgressing = "Progressing"
	// ReasonWaiting: nothing can be done at this moment; the message says what is being waited for.
	ReasonWaiting = "Waiting"
	// ReasonPaused: spec.paused is set.
	ReasonPaused = "Paused"
	// ReasonAborting: spec.aborted is set and nodes are being brought to a safe state.
	ReasonAborting = "Aborting"
	// ReasonAborted: the operation ended because spec.aborted was set.
	ReasonAborted = "Aborted"
	// ReasonBlocked: a preflight finding blocks.
	ReasonBlocked = "Blocked"
	// ReasonPassed: no preflight finding blocks.
	ReasonPassed = "Passed"
	// ReasonApprovalRequired: nobody has approved the plan.
	ReasonApprovalRequired = "ApprovalRequired"
	// ReasonApproved: the plan's hash is the approved one, or none is asked for.
	ReasonApproved = "Approved"
	// ReasonPlanChanged: the world no longer fits the approved plan; a person must look at the new one.
	ReasonPlanChanged = "PlanChanged"
	// ReasonNodeFailed: a node failed and waits for a person.
	ReasonNodeFailed = "NodeFailed"
	// ReasonNodesSkipped: nodes that could not be emptied are left.
	ReasonNodesSkipped = "NodesSkipped"
	// ReasonDrainBlocked: a node cannot be emptied.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonNodeUnavailable: nodes that nobody upgrades are unavailable and use up what may be unavailable.
	ReasonNodeUnavailable = "NodeUnavailable"
	// ReasonControlPlaneUnhealthy: etcd or an API server is not well enough to go on.
	ReasonControlPlaneUnhealthy = "ControlPlaneUnhealthy"
	// ReasonTrialRunning: a Pod tries a control plane node that was changed.
	ReasonTrialRunning = "TrialRunning"
	// ReasonTrialFailed: a Pod on a control plane node that was changed does not run, or does not reach the API by its name.
	ReasonTrialFailed = "TrialFailed"
	// ReasonSkew: a node is too old for the next version of the control plane.
	ReasonSkew = "Skew"
	// ReasonReportMissing: a node's agent does not answer.
	ReasonReportMissing = "ReportMissing"
	// ReasonReleaseMissing: there is no ClusterRelease for a hop.
	ReasonReleaseMissing = "ReleaseMissing"
	// ReasonOlderOperation: an older operation is unfinished.
	ReasonOlderOperation = "OlderOperation"
)

// The reasons of the conditions of a ClusterRelease.
const (
	// ReasonVerified: hosts have verified the release, and none rejects it.
	ReasonVerified = "Verified"
	// ReasonRejected: a host rejects the release; status.lastError has the cause.
	ReasonRejected = "Rejected"
	// ReasonNotRead: no host has read the release yet.
	ReasonNotRead = "NotRead"
)

// ReasonReleaseRefused is the reason of Accepted=False where an agent rejects the ClusterRelease
// that its order names.
const ReasonReleaseRefused = "ReleaseRefused"

// The condition types of a NodeUpgrade, besides Ready, Reconciling and Stalled. The controller sets
// Accepted and Ready to Unknown when it creates the object; from then on all are the agent's.
const (
	// ConditionAccepted is False when the agent refuses the order; the reason says why.
	ConditionAccepted = "Accepted"
	// ConditionWaiting is True while a step waits for something outside the host; the message says for what.
	ConditionWaiting = "Waiting"
)

// The reasons of those conditions, besides the phases of a NodeUpgrade and the reasons of refusals
// and failures.
const (
	// ReasonPending: the agent has not observed the order yet.
	ReasonPending = "Pending"
	// ReasonAccepted: the agent has accepted the order.
	ReasonAccepted = "Accepted"
	// ReasonStepWaiting: a step waits for something outside the host.
	ReasonStepWaiting = "StepWaiting"
)

// What Refit writes on a Node, so that everyone can see whose cordon it is.
const (
	// AnnotationCordonedBy is the UID of the operation that cordoned the node. Only such a cordon is ever lifted.
	AnnotationCordonedBy = "refit.dev/cordoned-by"
)
