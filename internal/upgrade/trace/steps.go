package trace

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// maxClockSkew is by how much the clock of a host may be behind the API server's.
const maxClockSkew = 5 * time.Second

// steps returns the started steps of the agent for this order: those of the prefetch, or those of
// this attempt to upgrade the node. A retry continues at the step that failed, so the status also
// has steps of earlier attempts.
func (o *order) steps(prefetch bool) []refitv1alpha1.StepStatus {
	var out []refitv1alpha1.StepStatus
	for _, s := range o.n.Status.Steps {
		if s.StartTime == nil || s.StartTime.Before(o.earliest()) || o.prefetches(&s) != prefetch {
			continue
		}
		if prefetch || o.concerns(s.StartTime.UTC()) && s.CompletionTime != nil {
			out = append(out, s)
		}
	}
	return out
}

// prefetches reports whether a step is part of the prefetch. An agent that has to verify files
// again before it changes the host does so in the upgrade.
func (o *order) prefetches(s *refitv1alpha1.StepStatus) bool {
	permit, at := o.n.Spec.Permit, o.n.Spec.OrderTime
	changes := permit == refitv1alpha1.PermitApply || permit == refitv1alpha1.PermitRollback
	return node.Prefetches(s.Name) && (!changes || at == nil || s.StartTime.Before(at))
}

// isOfEarlierStage reports whether a drain was not for this hop: a node is drained in the stage
// that upgrades it.
func (o *order) isOfEarlierStage(drain *metav1.Time) bool {
	return slices.ContainsFunc(o.u.Status.Plan.Stages, func(s refitv1alpha1.StageSummary) bool {
		return s.Name == stageName(o.n.Spec.Role) && s.Kubernetes == o.version && s.StartTime != nil && drain.Before(s.StartTime)
	})
}

// earliest is when the first step of the operation may have started: an agent keeps what an earlier
// operation has fetched.
func (o *order) earliest() *metav1.Time {
	return &metav1.Time{Time: o.u.CreationTimestamp.Add(-maxClockSkew)}
}

// concerns reports whether something that started at a time belongs to this attempt.
func (o *order) concerns(start time.Time) bool {
	if start.Before(o.earliest().Time) {
		return false
	}
	if o.n.Spec.Attempt == 0 {
		return true
	}
	first := timeOf(o.n.Spec.OrderTime)
	if began := timeOf(o.n.Status.StartTime); !began.IsZero() && (first.IsZero() || began.Before(first)) {
		first = began
	}
	return !start.Before(first)
}

// isEarlier reports whether a drain belongs to an earlier attempt: one of its steps followed.
func (o *order) isEarlier(drain *metav1.Time) bool {
	return slices.ContainsFunc(o.n.Status.Steps, func(s refitv1alpha1.StepStatus) bool {
		return s.StartTime != nil && !node.Prefetches(s.Name) && !s.StartTime.Before(drain) && !o.concerns(s.StartTime.UTC())
	})
}

// agentStep is the span of a step of the agent.
func (o *order) agentStep(parent *Span, s refitv1alpha1.StepStatus) Span {
	span := o.step(parent, s.Name, timeOf(s.StartTime), timeOf(s.CompletionTime))
	span.text(AttributePhase, string(s.State))
	if e := o.n.Status.Error; isFailed(s) || e != nil && e.Step == s.Name {
		o.fail(&span)
	}
	return span
}

func isFailed(s refitv1alpha1.StepStatus) bool { return s.State == refitv1alpha1.StepFailed }

// fail marks a span as failed, with the class and the reason that the agent reports. The message
// and the log stay in the cluster.
func (o *order) fail(span *Span) {
	e := o.n.Status.Error
	if e == nil {
		span.fail(string(o.n.Status.Phase))
		return
	}
	span.fail(e.Reason)
	span.text(AttributeFailureClass, string(e.Class))
	span.text(AttributeFailureReason, e.Reason)
	if span.Kind != KindStep {
		span.text(AttributeFailureStep, e.Step)
	}
}

// stageName is the stage in which a node is upgraded.
func stageName(role refitv1alpha1.Role) refitv1alpha1.StageName {
	if role == refitv1alpha1.RoleWorker {
		return refitv1alpha1.StageWorkers
	}
	return refitv1alpha1.StageControlPlane
}

// prefetchStage is the stage in which the node prefetches. Workers that skip a hop prefetch in the
// first one after their last upgrade.
func (o *order) prefetchStage() Span {
	version := o.version
	if o.n.Spec.Role == refitv1alpha1.RoleWorker {
		first := ""
		for _, s := range o.u.Status.Plan.Stages {
			switch {
			case s.Name == refitv1alpha1.StagePrefetch && first == "":
				first = s.Kubernetes
			case s.Name == refitv1alpha1.StageWorkers && s.Kubernetes == o.version:
				version = first
			case s.Name == refitv1alpha1.StageWorkers:
				first = ""
			}
		}
	}
	return parentOf(o.u, refitv1alpha1.StagePrefetch, version)
}

// covering extends the first span so that it contains the others.
func covering(spans []Span) []Span {
	for i := range spans[1:] {
		spans[0].cover(&spans[i+1])
	}
	return spans
}
