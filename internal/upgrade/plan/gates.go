package plan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// A gate is a condition for something to start, to continue or to end. Every gate of Refit is in
// the table of this file; the functions are in gates_*.go.
//
// gates_test.go takes each gate out in turn and requires a test to fail.

// Held is what a gate holds back while it is closed.
type Held string

// The values of Held, in the order of an upgrade.
const (
	HeldOperation         Held = "Operation"
	HeldOrder             Held = "Order"
	HeldPrefetch          Held = "Prefetch"
	HeldBackup            Held = "Backup"
	HeldHop               Held = "Hop"
	HeldControlPlaneHop   Held = "ControlPlaneHop"
	HeldComponent         Held = "Component"
	HeldComponentProgress Held = "ComponentProgress"
	HeldControlPlaneClaim Held = "ControlPlaneClaim"
	HeldWorkerClaim       Held = "WorkerClaim"
	HeldFirstDisruption   Held = "FirstDisruption"
	HeldApply             Held = "Apply"
	HeldProgress          Held = "Progress"
	HeldSettle            Held = "Settle"
	HeldRelease           Held = "Release"
	HeldFinish            Held = "Finish"
)

// gateTable is every gate, by what it holds back. Gates are checked in this order. A condition that
// is checked twice has two names, since each gate has to prove that it is needed.
var gateTable = []struct {
	holds Held
	doc   string
	gates []gate
}{
	{HeldOperation, "everything new in an operation", []gate{
		{GateNotAborted, aborted, "the operation is not aborted"},
		{GatePlanKnown, planMissing, "there is a plan"},
		{GatePreflightPassed, preflightBlocks, "no preflight finding blocks the start"},
		{GateClockRight, clockWrong, "the controller's clock is that of the API servers"},
		{GateOldestOperation, olderOperation, "one operation acts at a time, the oldest first"},
		{GateApproved, notApproved, "the plan is approved"},
		{GatePlanUnchanged, planChanged, "the plan is the one that was approved"},
		{GateNotPaused, paused, "the operation is not paused"},
		{GateNoFailedNode, nodeFailed, "no node waits for manual intervention"},
		{GateNoFailedComponent, componentFailed, "no component waits for manual intervention"},
	}},
	{HeldOrder, "every order to an agent", []gate{
		{GateReleaseAvailable, releaseMissing, "an order names a ClusterRelease by its digest"},
		{GateHostFree, hostTaken, "the host is not being changed for another operation"},
		{GateMachineKnown, machineUnknown, "an order names a machine, so that no other one accepts it"},
	}},
	{HeldPrefetch, "the order to prefetch", []gate{
		{GatePrefetchInWindow, prefetchTooEarly, "the window has to be open, if its prefetch is InWindow"},
		{GatePrefetchSlotFree, noPrefetchSlot, "a few nodes prefetch at a time"},
	}},
	{HeldBackup, "the backup of a hop", []gate{
		{GateBackupBeforeWindow, backupTooEarly, "a backup has to be recent when the window opens"},
	}},
	{HeldHop, "the first change of a hop", []gate{
		{GatePrefetchComplete, prefetchIncomplete, "every node has what it needs before one is disrupted"},
	}},
	{HeldControlPlaneHop, "the first control plane change of a hop", []gate{
		{GateBackupProven, backupNotProven, "a backup was stored, read back, restored and rehearsed, and is recent"},
	}},
	{HeldComponent, "the order to change a component", []gate{
		{GateComponentFree, onComponent(componentTaken), "the component is not being changed for another operation"},
		{GateComponentAlone, onComponent(componentNotAlone), "a component changes alone, and never beside a control plane node"},
		{GateComponentFits, onComponent(componentDoesNotFit), "the window is open, and closes after the change"},
		{GateOfferApproved, onComponent(offerNotApproved), "what the order changes is computed for the cluster as it is, and nothing speaks against it"},
	}},
	{HeldComponentProgress, "waiting for refit-components without manual intervention", []gate{
		{GateComponentsRespond, onComponent(componentSilent), "refit-components that does not run cannot finish"},
	}},
	{HeldControlPlaneClaim, "the claim of a control plane node", []gate{
		{GatePrefetched, notPrefetched, "the node has everything that the hop installs"},
		{GateControlPlaneFits, nodeDoesNotFit, "the window is open, and closes after drain and change; of the first node, after those of all"},
		{GateNothingElseActive, othersActive, "a control plane node is upgraded alone"},
		{GateComponentsIdle, componentsChanging, "no component changes beside a control plane node"},
		{GateControlPlaneReady, controlPlaneNotReady, "no second control plane node is unavailable"},
		{GateReportsFresh, reportsStale, "the gates below read what agents report"},
		{GateEtcdHealthy, etcdUnhealthy, "every etcd member is healthy, none is a learner, all agree on the members"},
		{GateEtcdKeepsQuorum, etcdLosesQuorum, "etcd keeps its quorum without this member"},
		{GateAPIServersReady, apiServerNotReady, "every API server is ready at its own address"},
		{GateEndpointAnswers, endpointSilent, "the endpoint answers every control plane node, and one holds its address if it is a virtual IP"},
		{GateAPIServerSkew, apiServersApart, "API servers are at most one minor version apart"},
		{GateKubeletSkew, kubeletTooOld, "no kubelet is older than the skew policy allows"},
	}},
	{HeldWorkerClaim, "the claim of a worker", []gate{
		{GateWorkerPrefetched, notPrefetched, "the node has everything that the hop installs"},
		{GateWorkerFits, nodeDoesNotFit, "the window is open, and closes after drain and change"},
		{GateControlPlaneIdle, controlPlaneActive, "no worker is upgraded beside a control plane node"},
		{GateWorkerReady, workerNotReady, "a node that is not ready is not upgraded"},
		{GateKubeletNotNewer, kubeletTooNew, "a kubelet is never newer than the oldest API server"},
		{GateZoneTurn, anotherZonesTurn, "a pool is upgraded zone by zone; the first node that may go decides the zone"},
		{GateCanaryProven, canaryNotProven, "the canary goes first and soaks"},
		{GateSlotFree, noSlot, "maxUnavailable of the pool, whatever made nodes unavailable"},
		{GateActiveLimit, tooManyActive, "status.active is bounded"},
		{GateBudgetsIndependent, budgetShared, "nodes that share an exhausted budget would block each other's drain"},
	}},
	{HeldFirstDisruption, "the first disruption of a claimed node; it is released while a gate is closed", []gate{
		{GateChangeStillFits, changeDoesNotFit, "a drain that took long, or a claim that no decision made, leaves too little of the window"},
		{GateClaimedFirst, claimedLater, "two claimed control plane nodes would wait for each other forever"},
		{GateBackupStillProven, backupLost, "a claim that no decision made, or whose backup was deleted since, proves nothing"},
		{GateComponentsFirst, onControlPlane(componentsNotReady), "a claim that no decision made does not wait for the components that the new version needs"},
		{GateSlotStillFree, slotGone, "another node of the pool may have become unavailable since the claim"},
	}},
	{HeldApply, "the order to change a node; conditions may have changed since the claim", []gate{
		{GateRetryFits, retryDoesNotFit, "a host that is partly changed is not released, and retried in the window"},
		{GateStillPrefetched, notPrefetched, "nothing has to be fetched while the node is disrupted"},
		{GateCordoned, notCordoned, "no pod is scheduled to the node while it is drained and changed"},
		{GateProtected, notProtected, "no autoscaler removes the node while it is drained and changed"},
		{GateDrained, notDrained, "no pod that a drain moves is on the node"},
		{GateMachineStillKnown, machineUnknown, "the order names the machine that the node is on now"},
		{GateStillNothingElseActive, onControlPlane(othersActive), "as for the claim"},
		{GateControlPlaneStillReady, onControlPlane(controlPlaneNotReady), "as for the claim"},
		{GateReportsStillFresh, onControlPlane(reportsStale), "as for the claim"},
		{GateEtcdStillHealthy, onControlPlane(etcdUnhealthy), "as for the claim"},
		{GateEtcdStillKeepsQuorum, onControlPlane(etcdLosesQuorum), "as for the claim"},
		{GateAPIServersStillReady, onControlPlane(apiServerNotReady), "as for the claim"},
		{GateEndpointStillAnswers, onControlPlane(endpointSilent), "as for the claim"},
		{GateAPIServerSkewStill, onControlPlane(apiServersApart), "as for the claim"},
		{GateKubeletSkewStill, onControlPlane(kubeletTooOld), "as for the claim"},
		{GateKubeletStillNotNewer, onWorker(kubeletTooNew), "as for the claim"},
	}},
	{HeldProgress, "waiting for an agent without manual intervention", []gate{
		{GateNodeReachable, nodeLost, "a node that is lost cannot finish"},
		{GateAgentResponds, agentSilent, "an agent that stopped cannot finish"},
		{GateAgentProceeds, agentWaits, "an agent waits without a limit before it changes its host"},
	}},
	{HeldSettle, "uncordon and the end of the claim", []gate{
		{GateReadyAfter, notReadyAfter, "the node is ready"},
		{GateVersionReported, versionNotReported, "the node reports its new version"},
		{GateTrialStarted, afterChange(trialNotStarted), "the start of the trial marks when the change was found complete"},
		{GateReportsFreshAfter, afterChange(reportsFromBefore), "the gates below read reports from after the change"},
		{GateEtcdHealthyAfter, afterChange(etcdUnhealthy), "the next control plane node finds etcd healthy"},
		{GateAPIServersReadyAfter, afterChange(apiServerNotReady), "and every API server ready"},
		{GateEndpointAnswersAfter, afterChange(endpointSilent), "and the endpoint, wherever its address is now"},
		{GateTrialPassed, afterChange(trialNotPassed), "a Pod on the node resolves and reaches the API"},
	}},
	{HeldRelease, "the release of a node that its agent rolled back", []gate{
		{GateReadyAfterRollback, notReadyAfterRollback, "the node is ready"},
	}},
	{HeldFinish, "the end of an operation", []gate{
		{GateControlPlaneHealthyAtEnd, controlPlaneUnhealthyAtEnd, "the control plane is healthy"},
		{GateNothingActive, somethingActive, "no node is active and nothing is left to do"},
	}},
}

// gate is one condition. It is closed when it returns something to wait for: an empty Wait if the
// gate itself did what opens it, such as a cordon, and there is nothing else to report.
type gate struct {
	name   GateName
	closed func(d *deciding, n *cluster.Node, hop int) *Wait
	doc    string
}

var allGates = gatesOf()

// gatesOf indexes the table, without the gates that a test takes out.
func gatesOf(without ...GateName) map[Held][]gate {
	out := make(map[Held][]gate, len(gateTable))
	for _, group := range gateTable {
		for _, g := range group.gates {
			if !slices.Contains(without, g.name) {
				out[group.holds] = append(out[group.holds], g)
			}
		}
	}
	return out
}

// firstClosed returns what the first closed gate waits for. While a report is requested the last
// one still counts: an operation that waits for manual intervention keeps reporting it.
func (d *deciding) firstClosed(holds Held, n *cluster.Node, hop int) *Wait {
	var requested *Wait
	for _, g := range d.gates[holds] {
		switch w := g.closed(d, n, hop); {
		case w == nil:
		case w.Reason == refitv1alpha1.ReasonReportMissing && !w.ManualIntervention && requested == nil && n != nil && d.reported(n):
			requested = w
		default:
			return w
		}
	}
	return requested
}

type closedFunc = func(d *deciding, n *cluster.Node, hop int) *Wait

func onControlPlane(closed closedFunc) closedFunc {
	return func(d *deciding, n *cluster.Node, hop int) *Wait {
		if !n.ControlPlane {
			return nil
		}
		return closed(d, n, hop)
	}
}

func onWorker(closed closedFunc) closedFunc {
	return func(d *deciding, n *cluster.Node, hop int) *Wait {
		if n.ControlPlane {
			return nil
		}
		return closed(d, n, hop)
	}
}

// afterChange checks a control plane node. An aborted operation leaves no cordon of its own behind,
// whatever else is unhealthy.
func afterChange(closed closedFunc) closedFunc {
	return onControlPlane(func(d *deciding, n *cluster.Node, hop int) *Wait {
		if d.op.Spec.Aborted && n.CordonedBy == d.op.UID {
			return nil
		}
		return closed(d, n, hop)
	})
}
