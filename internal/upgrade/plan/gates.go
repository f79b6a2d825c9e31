package plan

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// Everything that must hold before something is begun is in the lists of this file. A gate is closed when it returns something to wait for.
//
// guards_test.go takes each of them out in turn and requires a test to fail.

// operationGate holds the whole operation.
type operationGate struct {
	name   string
	closed func(*view) *hold
}

var operationGates = []operationGate{
	{"NotAborted", aborted},             // a person ended it
	{"OldestOperation", olderOperation}, // one operation acts at a time
	{"Approved", notApproved},           // somebody with the right to said yes to this very plan
	{"PlanUnchanged", planChanged},      // the world still fits what was approved
	{"NotPaused", paused},               // a person wants it to wait
	{"NoFailure", nodeFailed},           // nothing new while a node waits for a person
}

// gate holds one node.
type gate struct {
	name   string
	closed func(d *deciding, n *cluster.Node, hop int) *Wait
}

// orderGates hold every order to an agent.
var orderGates = []gate{
	{"ReleaseThere", releaseMissing},   // an order names a ClusterRelease by its digest
	{"IdentityKnown", identityUnknown}, // and a machine, so that it cannot be meant for another one
}

// controlPlaneGates hold the claim of a control plane node.
var controlPlaneGates = []gate{
	{"NothingElseAtWork", othersAtWork},         // one node at a time, and none beside it
	{"ControlPlaneReady", controlPlaneNotReady}, // no second one may be away
	{"FactsFresh", factsStale},                  // the gates below read what agents told, and old news may be wrong
	{"EtcdHealthy", etcdUnhealthy},              // every member answers, no learner, no alarm, all agree who is a member
	{"EtcdKeepsQuorum", etcdLosesQuorum},        // with this member away
	{"APIServersReady", apiServerNotReady},      // each at its own address
	{"APIServersFit", apiServersApart},          // never more than one minor version apart
	{"KubeletsFit", kubeletTooOld},              // no kubelet is left behind by more than the skew policy allows
}

// applyGates hold the order to change a node: what was true at the claim may have changed while it was emptied. They have names of their own, since
// each of them has to prove that it is needed.
var applyGates = []gate{
	{"IdentityStillKnown", identityUnknown},
	{"StillNothingElseAtWork", onControlPlane(othersAtWork)},
	{"ControlPlaneStillReady", onControlPlane(controlPlaneNotReady)},
	{"FactsStillFresh", onControlPlane(factsStale)},
	{"EtcdStillHealthy", onControlPlane(etcdUnhealthy)},
	{"EtcdStillKeepsQuorum", onControlPlane(etcdLosesQuorum)},
	{"APIServersStillReady", onControlPlane(apiServerNotReady)},
	{"APIServersStillFit", onControlPlane(apiServersApart)},
	{"KubeletsStillFit", onControlPlane(kubeletTooOld)},
	{"KubeletStillNotNewer", onWorker(kubeletTooNew)},
}

// settleGates hold the end of the work on a control plane node: it gets no pods before it is well, and the next one must find a control plane that is whole.
var settleGates = []gate{
	{"FactsFreshAfter", factsFromBefore}, // gathered after the change, not before it
	{"EtcdHealthyAfter", etcdUnhealthy},
	{"APIServersReadyAfter", apiServerNotReady},
	{"TrialPassed", trialNotPassed}, // a Pod on it finds the API by its name and reaches it
}

// beginGates hold the first disruption of a node that was claimed a moment ago.
var beginGates = []gate{
	{"SlotStillFree", slotGone}, // another node of the pool may have gone away since
}

// workerGates hold the claim of a worker. The order matters: ZoneTurn gives the turn to the first node that is able to go.
var workerGates = []workerGate{
	{"ControlPlaneAtRest", controlPlaneAtWork}, // one control plane node at a time, and none beside it
	{"NodeReady", workerNotReady},              // a node that is not well is not upgraded
	{"KubeletNotNewer", workerTooNew},          // never newer than the oldest API server
	{"ZoneTurn", anotherZonesTurn},             // a pool is upgraded zone by zone
	{"CanaryProven", canaryNotProven},          // the canary goes ahead and soaks
	{"SlotFree", noSlot},                       // maxUnavailable of the pool, whatever made nodes unavailable
	{"WithinCeiling", tooManyAtWork},           // what an operation's status can hold
	{"BudgetsApart", budgetShared},             // nodes that share an exhausted budget would hold each other half empty
}

type workerGate struct {
	name   string
	closed func(d *deciding, w *window, n *cluster.Node, hop int) *Wait
}

// firstClosed returns what the first closed gate waits for. While facts are being asked for anew the last ones still count: an operation that waits for a
// person does not stop saying so every time it asks.
func (d *deciding) firstClosed(gates []gate, n *cluster.Node, hop int) *Wait {
	var asking *Wait
	for _, g := range gates {
		if d.open[g.name] {
			continue
		}
		switch w := g.closed(d, n, hop); {
		case w == nil:
		case w.Reason == refitv1alpha1.ReasonReportMissing && !w.Person && asking == nil && d.known(n):
			asking = w
		default:
			return w
		}
	}
	return asking
}

func (d *deciding) firstClosedWorker(window *window, n *cluster.Node, hop int) *Wait {
	for _, g := range workerGates {
		if d.open[g.name] {
			continue
		}
		if w := g.closed(d, window, n, hop); w != nil {
			return w
		}
	}
	return nil
}

func onControlPlane(closed func(*deciding, *cluster.Node, int) *Wait) func(*deciding, *cluster.Node, int) *Wait {
	return func(d *deciding, n *cluster.Node, hop int) *Wait {
		if !n.ControlPlane {
			return nil
		}
		return closed(d, n, hop)
	}
}

func onWorker(closed func(*deciding, *cluster.Node, int) *Wait) func(*deciding, *cluster.Node, int) *Wait {
	return func(d *deciding, n *cluster.Node, hop int) *Wait {
		if n.ControlPlane {
			return nil
		}
		return closed(d, n, hop)
	}
}
