package v1alpha1

// The condition types of a ClusterUpgrade. Ready, Reconciling and Stalled are read by kstatus, and
// so by `kubectl wait`, Helm and GitOps tools.
const (
	// ConditionReady is True when the operation reached its target. It is a summary, with one
	// writer.
	ConditionReady = "Ready"
	// ConditionReconciling is True while the operation has something to do or to wait for.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True while manual intervention is required.
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

// ConditionIdentityProven of a BackupStore is True if an identity of a recipient has decrypted a
// backup.
const ConditionIdentityProven = "IdentityProven"

// The reasons of IdentityProven.
const (
	// ReasonDecrypted: an identity of a recipient has decrypted a backup.
	ReasonDecrypted = "Decrypted"
	// ReasonNeverDecrypted: no identity has decrypted a backup yet.
	ReasonNeverDecrypted = "NeverDecrypted"
	// ReasonRecipientsChanged: the recipients whose identities have decrypted a backup are not
	// recipients of the store any more.
	ReasonRecipientsChanged = "RecipientsChanged"
)

// The reasons of the conditions of a ClusterUpgrade.
const (
	// ReasonSucceeded: every node of the plan is at the target and proven.
	ReasonSucceeded = "Succeeded"
	// ReasonProgressing: the upgrade is in progress.
	ReasonProgressing = "Progressing"
	// ReasonWaiting: the upgrade waits; the message has the cause.
	ReasonWaiting = "Waiting"
	// ReasonPaused: spec.paused is set.
	ReasonPaused = "Paused"
	// ReasonAborting: spec.aborted is set and active nodes have not reached a safe state yet.
	ReasonAborting = "Aborting"
	// ReasonAborted: the operation ended because spec.aborted was set.
	ReasonAborted = "Aborted"
	// ReasonBlocked: a preflight finding blocks.
	ReasonBlocked = "Blocked"
	// ReasonPassed: no preflight finding blocks.
	ReasonPassed = "Passed"
	// ReasonApprovalRequired: the plan is not approved.
	ReasonApprovalRequired = "ApprovalRequired"
	// ReasonApproved: the plan's hash is the approved one, or none is required.
	ReasonApproved = "Approved"
	// ReasonPlanChanged: the cluster no longer matches the approved plan; review the new one.
	ReasonPlanChanged = "PlanChanged"
	// ReasonNodeFailed: a node failed and requires manual intervention.
	ReasonNodeFailed = "NodeFailed"
	// ReasonOrderRefused: an agent refuses its order; the message has the cause.
	ReasonOrderRefused = "OrderRefused"
	// ReasonActionFailed: the API refuses what the controller does for the upgrade.
	ReasonActionFailed = "ActionFailed"
	// ReasonStatusRefused: the API or an admission policy refuses the status of the upgrade.
	ReasonStatusRefused = "StatusRefused"
	// ReasonNodesSkipped: nodes were skipped because they could not be drained.
	ReasonNodesSkipped = "NodesSkipped"
	// ReasonDrainBlocked: a node cannot be drained.
	ReasonDrainBlocked = "DrainBlocked"
	// ReasonNodeUnavailable: unavailable nodes outside the upgrade use up maxUnavailable.
	ReasonNodeUnavailable = "NodeUnavailable"
	// ReasonControlPlaneUnhealthy: etcd or an API server is unhealthy.
	ReasonControlPlaneUnhealthy = "ControlPlaneUnhealthy"
	// ReasonTrialRunning: a Pod tests an upgraded control plane node.
	ReasonTrialRunning = "TrialRunning"
	// ReasonTrialFailed: a Pod on an upgraded control plane node does not run or cannot reach the
	// API.
	ReasonTrialFailed = "TrialFailed"
	// ReasonSkew: a node is too old for the next version of the control plane.
	ReasonSkew = "Skew"
	// ReasonReportMissing: the agent of a node is unreachable.
	ReasonReportMissing = "ReportMissing"
	// ReasonReleaseMissing: there is no ClusterRelease for a hop.
	ReasonReleaseMissing = "ReleaseMissing"
	// ReasonClockSkewed: the clock of the controller differs from the API servers'.
	ReasonClockSkewed = "ClockSkewed"
	// ReasonOlderOperation: an older operation is unfinished.
	ReasonOlderOperation = "OlderOperation"
	// ReasonWindowClosed: the MaintenanceWindow is closed, or closes too early.
	ReasonWindowClosed = "WindowClosed"
	// ReasonWindowTooShort: no opening of the MaintenanceWindow is long enough.
	ReasonWindowTooShort = "WindowTooShort"
	// ReasonWindowUnusable: the MaintenanceWindow does not exist, or never opens.
	ReasonWindowUnusable = "WindowUnusable"
	// ReasonBackupPending: the backup that the next hop of the control plane relies on is taken or
	// tried, or waits.
	ReasonBackupPending = "BackupPending"
	// ReasonBackupFailed: the backup of etcd failed, or its drill did.
	ReasonBackupFailed = "BackupFailed"
	// ReasonRehearsalFailed: the rehearsal of a hop on the backup has findings.
	ReasonRehearsalFailed = "RehearsalFailed"
	// ReasonComponentWaiting: a component waits, or is waited for.
	ReasonComponentWaiting = "ComponentWaiting"
	// ReasonComponentFailed: the change of a component failed or was rolled back.
	ReasonComponentFailed = "ComponentFailed"
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
	// ConditionAccepted is False when the agent refuses the order; the reason has the cause.
	ConditionAccepted = "Accepted"
	// ConditionWaiting is True while a step waits for something outside the host; the message has
	// the cause.
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
	// ReasonPermissionWaiting: the host is unchanged, and its first change waits for the permission
	// of the ClusterUpgrade.
	ReasonPermissionWaiting = "PermissionWaiting"
)

// The labels of an EtcdBackup that an operation creates.
const (
	// LabelOperation is the UID of the operation.
	LabelOperation = "refit.dev/operation"
	// LabelHop is the version of the hop that relies on the backup.
	LabelHop = "refit.dev/hop"
	// LabelNumber counts the backups of an operation for a hop, from 1.
	LabelNumber = "refit.dev/number"
	// LabelRetry is spec.retry of the operation when it created the backup.
	LabelRetry = "refit.dev/retry"
)

// LabelFreeze marks the admission policy and the binding of a freeze. Its value is the component.
const LabelFreeze = "refit.dev/freeze"

// Annotations that Refit sets on Nodes.
const (
	// AnnotationCordonedBy is the UID of the operation that cordoned the node. Refit uncordons only
	// such nodes.
	AnnotationCordonedBy = "refit.dev/cordoned-by"
	// AnnotationProtectedBy is the UID of the operation that upgrades the node and keeps
	// autoscalers from removing it.
	AnnotationProtectedBy = "refit.dev/protected-by"
	// AnnotationProtectedWith lists the annotations that Refit added for that. It removes only
	// these.
	AnnotationProtectedWith = "refit.dev/protected-with"
	// AnnotationScaleDownDisabled keeps the Cluster Autoscaler from removing the node. It is true
	// while the node is upgraded.
	AnnotationScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	// AnnotationDoNotDisrupt keeps Karpenter from disrupting the node. It is true while the node is
	// upgraded.
	AnnotationDoNotDisrupt = "karpenter.sh/do-not-disrupt"
)
