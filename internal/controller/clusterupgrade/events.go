package clusterupgrade

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// The reasons of Events that are no phase of an operation. docs/metrics.md lists them.
const (
	eventPlanned      = "Planned"
	eventApproved     = "Approved"
	eventResumed      = "Resumed"
	eventPrefetching  = "Prefetching"
	eventPrefetched   = "Prefetched"
	eventBackingUp    = "BackingUp"
	eventBackupProven = "BackupProven"
	eventNodeSelected = "NodeSelected"
	eventCordoned     = "Cordoned"
	eventDraining     = "Draining"
	eventNodeSkipped  = "NodeSkipped"
	eventUpgrading    = "Upgrading"
	eventRollingBack  = "RollingBack"
	eventUncordoned   = "Uncordoned"
	eventDone         = "Done"
	eventNodeReleased = "NodeReleased"
	eventNodeFailed   = "NodeFailed"

	eventChangingComponent = "ChangingComponent"
	eventComponentFailed   = "ComponentFailed"
)

// pendingEvent is an Event to record once the write that it describes has succeeded.
type pendingEvent struct {
	node    string // empty: it concerns the operation only
	warning bool
	reason  string
	note    string
}

// eventsFor are the Events of a write of the operation's status. Each describes a change between
// two statuses, so it is recorded once, whichever controller leads.
func eventsFor(was, now *refitv1alpha1.ClusterUpgradeStatus, obs *observation) []pendingEvent {
	var out []pendingEvent
	add := func(node, reason, format string, args ...any) {
		out = append(out, pendingEvent{node: node, reason: reason, note: fmt.Sprintf(format, args...)})
	}
	if became(was, now, refitv1alpha1.ConditionPlanned) {
		add("", eventPlanned, "Plan from %s to %s, estimated %s: %s", now.Plan.From, now.Plan.To, now.Plan.Estimate.Duration, now.Plan.Hash)
	}
	if became(was, now, refitv1alpha1.ConditionApproved) && obs.operation.Spec.ApprovedPlan != "" {
		add("", eventApproved, "Approved plan %s", obs.operation.Spec.ApprovedPlan)
	}
	if was.Phase == refitv1alpha1.PhasePaused && now.Phase != refitv1alpha1.PhasePaused && !obs.operation.Spec.Aborted {
		add("", eventResumed, "%s", now.Message)
	}
	if obs.counts(plan.Prefetch) > 0 && !obs.ordered() {
		add("", eventPrefetching, "Prefetching %s on %s, a few at a time", now.Plan.To, nodes(int(now.Nodes.Total)))
	}
	for _, stage := range provenStages(was.Plan, now.Plan) {
		add("", eventBackupProven, "The backup of etcd before %s is proven", stage.Kubernetes)
	}
	if obs.counts(plan.Claim) > 0 && !obs.Started {
		add("", eventPrefetched, "Every node has prefetched what it needs")
	}
	for i := range obs.Decision.Actions {
		if reason := obs.eventReason(&obs.Decision.Actions[i]); reason != "" {
			add(obs.Decision.Actions[i].Node, reason, "%s", obs.Decision.Actions[i].Reason)
		}
	}
	for _, f := range now.Failures {
		switch {
		case failedBefore(was.Failures, f):
		case f.Component != "":
			out = append(out, pendingEvent{warning: true, reason: eventComponentFailed, note: f.Component + ": " + failureNote(f)})
		default:
			out = append(out, pendingEvent{node: f.Node, warning: true, reason: eventNodeFailed, note: failureNote(f)})
		}
	}
	if was.Phase != now.Phase && now.Phase != refitv1alpha1.PhaseRunning {
		note := now.Message
		if ready := meta.FindStatusCondition(now.Conditions, refitv1alpha1.ConditionReady); ready != nil {
			note = ready.Message
		}
		out = append(out, pendingEvent{warning: now.Phase == refitv1alpha1.PhaseStalled, reason: string(now.Phase), note: note})
	}
	return out
}

// provenStages are the last stages of a backup that were completed between two plans.
func provenStages(was, now *refitv1alpha1.PlanSummary) []refitv1alpha1.StageSummary {
	if was == nil || now == nil || len(was.Stages) != len(now.Stages) {
		return nil
	}
	var out []refitv1alpha1.StageSummary
	for i, stage := range now.Stages {
		backup := stage.Name == refitv1alpha1.StageBackup || stage.Name == refitv1alpha1.StageRehearsal
		last := i+1 == len(now.Stages) || now.Stages[i+1].Name != refitv1alpha1.StageRehearsal
		if backup && last && stage.Done > was.Stages[i].Done {
			out = append(out, stage)
		}
	}
	return out
}

// eventReason is the reason of the Event for an action that the write of the status executes.
func (o *observation) eventReason(a *plan.Action) string {
	n := o.nodes[a.Node]
	switch {
	case a.Kind == plan.Claim:
		return eventNodeSelected
	case a.Kind != plan.ReleaseNode:
		return ""
	case n != nil && n.Upgrade != nil && n.Upgrade.Status.Phase == refitv1alpha1.NodeSucceeded:
		return eventDone
	}
	return eventNodeReleased
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// became reports whether a condition has become True.
func became(was, now *refitv1alpha1.ClusterUpgradeStatus, condition string) bool {
	return meta.IsStatusConditionTrue(now.Conditions, condition) && !meta.IsStatusConditionTrue(was.Conditions, condition)
}

func failedBefore(failures []refitv1alpha1.Failure, f refitv1alpha1.Failure) bool {
	for i := range failures {
		if failures[i].Node == f.Node && failures[i].Component == f.Component {
			return true
		}
	}
	return false
}

func failureNote(f refitv1alpha1.Failure) string {
	note := f.Message
	if f.Step != "" {
		note = f.Step + ": " + note
	}
	if f.Remedy != "" {
		note += ". Remedy: " + f.Remedy
	}
	return note
}

// counts is how many actions of a kind were decided.
func (o *observation) counts(kind plan.ActionKind) int {
	n := 0
	for i := range o.Decision.Actions {
		if o.Decision.Actions[i].Kind == kind {
			n++
		}
	}
	return n
}

// ordered reports whether an agent has an order of the operation.
func (o *observation) ordered() bool {
	for i := range o.snapshot.Nodes {
		if u := o.snapshot.Nodes[i].Upgrade; u != nil && u.Spec.Operation.UID == o.operation.UID {
			return true
		}
	}
	return false
}

// actionEvents are the reasons of the Events for actions, recorded once they are executed.
var actionEvents = map[plan.ActionKind]string{
	plan.Cordon: eventCordoned, plan.Drain: eventDraining, plan.Skip: eventNodeSkipped, plan.Apply: eventUpgrading, plan.Rollback: eventRollingBack,
	plan.Uncordon: eventUncordoned, plan.CreateBackup: eventBackingUp, plan.ApplyComponent: eventChangingComponent,
}

// recordEvent records an Event on the operation, on the node that it concerns, or on both.
func (r *Reconciler) recordEvent(obs *observation, e pendingEvent) {
	kind := corev1.EventTypeNormal
	if e.warning {
		kind = corev1.EventTypeWarning
	}
	note := refitv1alpha1.Clip(e.note, maxNote)
	n := obs.nodes[e.node]
	switch {
	case e.node == "":
		r.Recorder.Eventf(obs.operation, nil, kind, e.reason, e.reason, "%s", note)
	case n == nil: // the node has left the cluster
		r.Recorder.Eventf(obs.operation, nil, kind, e.reason, e.reason, "%s: %s", e.node, note)
	default:
		about := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: types.UID(n.UID)}}
		if onBoth[e.reason] {
			r.Recorder.Eventf(obs.operation, about, kind, e.reason, e.reason, "%s: %s", e.node, note)
		}
		r.Recorder.Eventf(about, obs.operation, kind, e.reason, e.reason, "%s", note)
	}
}

// maxNote is the length of an Event's note, less a node's name.
const maxNote = 768

// onBoth are the reasons that are recorded on the operation, too. Others are on the node only:
// those of 5,000 nodes would hide the operation's own Events.
var onBoth = map[string]bool{
	eventNodeSelected: true, eventDone: true, eventNodeReleased: true, eventNodeFailed: true, eventNodeSkipped: true, eventRollingBack: true,
}
