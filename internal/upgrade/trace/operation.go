package trace

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Operation returns the span of an operation that has ended, and those of the stages that have.
// There are none before the operation has a plan.
func Operation(u *refitv1alpha1.ClusterUpgrade) []Span {
	var out []Span
	if u.Status.Plan == nil {
		return out
	}
	root := rootOf(u)
	if u.HasEnded() {
		out = append(out, root)
	}
	for i := range u.Status.Plan.Stages {
		s := &u.Status.Plan.Stages[i]
		span := stageOf(u, s)
		switch {
		case s.StartTime == nil:
			continue
		case s.CompletionTime != nil:
			span.End = s.CompletionTime.UTC()
		case u.HasEnded():
			span.End = root.End
			span.fail(string(u.Status.Phase))
		default:
			continue
		}
		span.Start = s.StartTime.UTC()
		out = append(out, span)
	}
	return out
}

// EndTime is when an operation ended; zero if it has not.
func EndTime(u *refitv1alpha1.ClusterUpgrade) time.Time {
	if !u.HasEnded() {
		return time.Time{}
	}
	// An abort does not change the status of Ready.
	for _, kind := range []string{refitv1alpha1.ConditionReconciling, refitv1alpha1.ConditionReady} {
		if c := meta.FindStatusCondition(u.Status.Conditions, kind); c != nil {
			return c.LastTransitionTime.UTC()
		}
	}
	return time.Time{}
}

// rootOf is the span of the operation, which has an end once the operation has.
func rootOf(u *refitv1alpha1.ClusterUpgrade) Span {
	root := Span{
		Trace: traceOf(u.UID), ID: spanOf(u.UID), Kind: KindOperation, Name: "upgrade to " + u.Status.Plan.To,
		Start: u.CreationTimestamp.UTC(), End: EndTime(u),
	}
	root.text(AttributeKind, string(KindOperation))
	root.text(AttributeOperation, u.Name)
	root.text(AttributeOperationUID, string(u.UID))
	root.text(AttributeFrom, u.Status.Plan.From)
	root.text(AttributeTo, u.Status.Plan.To)
	root.text(AttributePlan, u.Status.Plan.Hash)
	root.text(AttributePhase, string(u.Status.Phase))
	root.number(AttributeNodesTotal, int64(u.Status.Nodes.Total))
	root.number(AttributeNodesDone, int64(u.Status.Nodes.Done))
	root.number(AttributeNodesFailed, int64(u.Status.Nodes.Failed))
	root.number(AttributeNodesSkipped, int64(u.Status.Nodes.Skipped))
	if u.Status.Phase == refitv1alpha1.PhaseAborted {
		root.fail(refitv1alpha1.ReasonAborted)
	}
	return root
}

// stageOf is the span of a stage, without its times.
func stageOf(u *refitv1alpha1.ClusterUpgrade, s *refitv1alpha1.StageSummary) Span {
	root := rootOf(u)
	span := root.within(u.UID, KindStage, strings.TrimSpace(string(s.Name)+" "+s.Kubernetes), "stage", string(s.Name), s.Kubernetes)
	span.text(AttributeStage, string(s.Name))
	span.text(AttributeTo, s.Kubernetes)
	if s.Total > 0 {
		span.number(AttributeNodesTotal, int64(s.Total))
		span.number(AttributeNodesDone, int64(s.Done))
	}
	return span
}

// parentOf is the stage of a name and a version, or the operation if its plan does not have that
// stage any more.
func parentOf(u *refitv1alpha1.ClusterUpgrade, name refitv1alpha1.StageName, version string) Span {
	for i := range u.Status.Plan.Stages {
		if s := &u.Status.Plan.Stages[i]; s.Name == name && s.Kubernetes == version {
			return stageOf(u, s)
		}
	}
	return rootOf(u)
}

// versionOf is the version of the hop that installs a release; empty if no hop does.
func versionOf(u *refitv1alpha1.ClusterUpgrade, release refitv1alpha1.ReleaseRef) string {
	for _, hop := range u.Status.Plan.Hops {
		if hop.Release == release {
			return hop.Kubernetes
		}
	}
	return ""
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
