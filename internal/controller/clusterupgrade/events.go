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

// The reasons of Events that are no phase of an operation. docs/metrics.md tells of them.
const (
	eventPlanned      = "Planned"
	eventApproved     = "Approved"
	eventResumed      = "Resumed"
	eventPrefetching  = "Prefetching"
	eventPrefetched   = "Prefetched"
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
)

// sentence is one of the story that Events tell.
type pendingEvent struct {
	node    string // that it is about, besides the operation; empty: the operation alone
	warning bool
	reason  string
	note    string
}

// eventsFor is what a write of the operation's status tells: each sentence is a change between two statuses, so it is told once, whoever leads.
func eventsFor(was, now *refitv1alpha1.ClusterUpgradeStatus, s *observation) []pendingEvent {
	var out []pendingEvent
	add := func(node, reason, format string, args ...any) {
		out = append(out, pendingEvent{node: node, reason: reason, note: fmt.Sprintf(format, args...)})
	}
	if became(was, now, refitv1alpha1.ConditionPlanned) {
		add("", eventPlanned, "%s to %s, estimated %s: %s", now.Plan.From, now.Plan.To, now.Plan.Estimate.Duration, now.Plan.Hash)
	}
	if became(was, now, refitv1alpha1.ConditionApproved) && s.operation.Spec.ApprovedPlan != "" {
		add("", eventApproved, "%s", s.operation.Spec.ApprovedPlan)
	}
	if was.Phase == refitv1alpha1.PhasePaused && now.Phase != refitv1alpha1.PhasePaused && !s.operation.Spec.Aborted {
		add("", eventResumed, "%s", now.Message)
	}
	if s.counts(plan.Prefetch) > 0 && !s.ordered() {
		add("", eventPrefetching, "%s on %s, a few at a time", now.Plan.To, nodes(int(now.Nodes.Total)))
	}
	if s.counts(plan.Claim) > 0 && !s.Started {
		add("", eventPrefetched, "every node has what it needs")
	}
	for i := range s.Decision.Actions {
		if reason := s.eventReason(&s.Decision.Actions[i]); reason != "" {
			add(s.Decision.Actions[i].Node, reason, "%s", s.Decision.Actions[i].Reason)
		}
	}
	for _, f := range now.Failures {
		if !failedBefore(was.Failures, f.Node) {
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

// eventReason is the reason of the Event about an act that a write of the status is, empty if it is none.
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

// became says whether a condition is True that was not.
func became(was, now *refitv1alpha1.ClusterUpgradeStatus, condition string) bool {
	return meta.IsStatusConditionTrue(now.Conditions, condition) && !meta.IsStatusConditionTrue(was.Conditions, condition)
}

func failedBefore(failures []refitv1alpha1.Failure, node string) bool {
	for i := range failures {
		if failures[i].Node == node {
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

// counts is how many actions of a kind were decided on.
func (o *observation) counts(kind plan.ActionKind) int {
	n := 0
	for i := range o.Decision.Actions {
		if o.Decision.Actions[i].Kind == kind {
			n++
		}
	}
	return n
}

// ordered says whether an agent has an order of the operation.
func (o *observation) ordered() bool {
	for i := range o.snapshot.Nodes {
		if u := o.snapshot.Nodes[i].Upgrade; u != nil && u.Spec.Operation.UID == o.operation.UID {
			return true
		}
	}
	return false
}

// eventOf are the acts that are told of on the node, once they are done.
var eventOf = map[plan.ActionKind]string{
	plan.Cordon: eventCordoned, plan.Drain: eventDraining, plan.Skip: eventNodeSkipped, plan.Apply: eventUpgrading, plan.Rollback: eventRollingBack,
	plan.Uncordon: eventUncordoned,
}

// recordAction tells of an act that was done.
func (r *Reconciler) recordAction(s *observation, a *plan.Action) {
	if reason := eventOf[a.Kind]; reason != "" {
		r.recordEvent(s, pendingEvent{node: a.Node, reason: reason, note: a.Reason})
	}
}

// recordEvent tells of an event: on the operation, and on the node that it is about.
func (r *Reconciler) recordEvent(s *observation, e pendingEvent) {
	kind := corev1.EventTypeNormal
	if e.warning {
		kind = corev1.EventTypeWarning
	}
	note := refitv1alpha1.Clip(e.note, maxNote)
	n := s.nodes[e.node]
	switch {
	case e.node == "":
		r.Recorder.Eventf(s.operation, nil, kind, e.reason, e.reason, "%s", note)
	case n == nil: // it has left the cluster
		r.Recorder.Eventf(s.operation, nil, kind, e.reason, e.reason, "%s: %s", e.node, note)
	default:
		about := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: types.UID(n.UID)}}
		if onBoth[e.reason] {
			r.Recorder.Eventf(s.operation, about, kind, e.reason, e.reason, "%s: %s", e.node, note)
		}
		r.Recorder.Eventf(about, s.operation, kind, e.reason, e.reason, "%s", note)
	}
}

// maxNote is how long an Event's note may be, less a node's name.
const maxNote = 768

// onBoth are what is told of a node on the operation, too. The rest is on the node only: five thousand nodes would drown the operation's own story.
var onBoth = map[string]bool{eventNodeSelected: true, eventDone: true, eventNodeReleased: true, eventNodeFailed: true, eventNodeSkipped: true, eventRollingBack: true}
