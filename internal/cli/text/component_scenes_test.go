package text_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// newAlone is an operation that changes two components, of which some are done, on five nodes at
// v1.36.3.
func newAlone(name string, phase refitv1alpha1.Phase, done int32, doing string) *scene {
	s := newScene(name, phase, 0, doing)
	u := s.operation
	u.Name = "add-ons"
	plan := u.Status.Plan
	plan.From, plan.WorkersFrom, plan.Estimate.Duration = "v1.36.3", "v1.36.3", 4*time.Minute
	plan.Stages = []refitv1alpha1.StageSummary{
		{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Total: 5, Done: 5},
		{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3"},
		{Name: refitv1alpha1.StageComponents, Kubernetes: "v1.36.3", Total: 2, Done: done},
		{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.36.3"},
		{Name: refitv1alpha1.StageVerify, Kubernetes: "v1.36.3"},
	}
	plan.Components = []refitv1alpha1.PlannedComponent{{Name: "liqo"}, {Name: "metrics-server"}}
	return s
}

// aloneScenes are the states of an operation that upgrades components alone.
func aloneScenes() []*scene {
	fetching := newAlone("alone-fetching", refitv1alpha1.PhaseRunning, 0, "Prefetching images of components on worker-1 and worker-2")
	fetching.operation.Status.Plan.Stages[0].Done = 3
	for _, name := range []string{"worker-1", "worker-2"} {
		n := fetching.node(name)
		n.Status.Phase, n.Status.Step = refitv1alpha1.NodePrefetching, "import-images"
	}
	running := newAlone("alone", refitv1alpha1.PhaseRunning, 1, "Upgrading component metrics-server to 0.9.0: upgrading objects of wave rest").
		because(refitv1alpha1.ReasonProgressing, "Upgrading component metrics-server", "")
	running.operation.Status.Nodes.Done = 5
	running.operation.Status.Waiting[0].Component = "metrics-server"
	fetchFailed := newAlone("alone-fetch-failed", refitv1alpha1.PhaseStalled, 0, "worker-2 failed at fetch: the mirror answers 503").
		because(refitv1alpha1.ReasonNodeFailed, "worker-2 failed", "Fix the mirror")
	fetchFailed.operation.Status.Plan.Stages[0].Done, fetchFailed.operation.Status.Nodes.Failed = 4, 1
	fetchFailed.operation.Status.Failures = []refitv1alpha1.Failure{{
		Node: "worker-2", Class: refitv1alpha1.FailureManualIntervention, Step: "fetch", Message: "the mirror answers 503", Remedy: "Fix the mirror",
	}}
	failed := newAlone("alone-failed", refitv1alpha1.PhaseStalled, 1,
		"Component metrics-server failed while upgrading objects of wave rest, and was rolled back (ManualInterventionRequired): Deployment kube-system/metrics-server is not ready").
		because(refitv1alpha1.ReasonComponentFailed, "Component metrics-server failed", "Fix the cause, then run `refit retry`")
	failed.operation.Status.Failures = []refitv1alpha1.Failure{{
		Component: "metrics-server", Class: refitv1alpha1.FailureManualIntervention, Step: "wave-rest",
		Message: "Deployment kube-system/metrics-server is not ready; it was rolled back", Remedy: "Fix the cause, then run `refit retry`",
	}}
	aborted := newAlone("alone-aborted", refitv1alpha1.PhaseAborted, 1, "Aborted").ended(metav1.ConditionFalse, refitv1alpha1.ReasonAborted)
	done := newAlone("alone-done", refitv1alpha1.PhaseSucceeded, 2, "Done: the components are at the versions of the plan").
		ended(metav1.ConditionTrue, refitv1alpha1.ReasonSucceeded)
	done.operation.Status.Nodes.Done = 5
	return []*scene{fetching, running, fetchFailed, failed, aborted, done}
}
