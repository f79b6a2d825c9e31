//go:build apiserver

package api

import (
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/orders"
	"github.com/refit-dev/refit/internal/upgrade/plan"
	"github.com/refit-dev/refit/test/apiserver"
)

// kstatusOf writes a status as a controller or an agent does, and returns what kstatus computes.
func kstatusOf[T any](t *testing.T, s *apiserver.Server, object map[string]any, change func(*T)) status.Status {
	t.Helper()
	created := made(t, s, object)
	typed := new(T)
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, typed))
	change(typed)
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	must(t, err)
	updated, err := objects(t, s.RESTConfig(), created.GetKind()).UpdateStatus(t.Context(), &unstructured.Unstructured{Object: raw}, metav1.UpdateOptions{})
	must(t, err)
	result, err := status.Compute(updated)
	must(t, err)
	return result.Status
}

// TestKstatusOfEveryPhase checks the status that Flux, Helm and Argo CD show for operations and
// orders.
func TestKstatusOfEveryPhase(t *testing.T) {
	now := time.Now()
	assessed := func(state plan.State) func(*refitv1alpha1.ClusterUpgrade) {
		return func(u *refitv1alpha1.ClusterUpgrade) {
			a := &assess.Assessment{
				Plan:     &plan.Plan{Hash: hashA, From: "v1.35.4", To: "v1.36.3"},
				Decision: plan.Decision{State: state, Waiting: []plan.Wait{{Reason: refitv1alpha1.ReasonNodeFailed, Message: "worker-1 failed", ManualIntervention: true}}},
			}
			assess.UpdateStatus(u, a, now)
		}
	}
	observed := func(phase refitv1alpha1.NodePhase, refusal *node.Refusal) func(*refitv1alpha1.NodeUpgrade) {
		return func(u *refitv1alpha1.NodeUpgrade) {
			u.Status.Phase, u.Status.ObservedGeneration = phase, u.Generation
			u.Status.Conditions = node.Conditions(nil, node.Observed{Status: &u.Status, Generation: u.Generation, Refusal: refusal}, now)
		}
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for name, tt := range map[string]struct {
			change func(*refitv1alpha1.ClusterUpgrade)
			want   status.Status
		}{
			"new":              {func(u *refitv1alpha1.ClusterUpgrade) { assess.InitialStatus(u, now) }, status.InProgressStatus},
			"awaitingapproval": {assessed(plan.AwaitingApproval), status.InProgressStatus},
			"queued":           {assessed(plan.Queued), status.InProgressStatus},
			"running":          {assessed(plan.Running), status.InProgressStatus},
			"paused":           {assessed(plan.Paused), status.InProgressStatus},
			"stalled":          {assessed(plan.Stalled), status.FailedStatus},
			"aborting":         {assessed(plan.Aborting), status.InProgressStatus},
			"aborted":          {assessed(plan.Aborted), status.FailedStatus},
			"succeeded":        {assessed(plan.Succeeded), status.CurrentStatus},
		} {
			if got := kstatusOf(t, s, smallest("ClusterUpgrade", "kstatus-"+name), tt.change); got != tt.want {
				t.Errorf("ClusterUpgrade %s is %s, want %s", name, got, tt.want)
			}
		}
		for name, tt := range map[string]struct {
			change func(*refitv1alpha1.NodeUpgrade)
			want   status.Status
		}{
			"pending":     {func(u *refitv1alpha1.NodeUpgrade) { orders.SetPending(u, now) }, status.InProgressStatus},
			"held":        {observed(refitv1alpha1.NodeIdle, nil), status.InProgressStatus},
			"prefetching": {observed(refitv1alpha1.NodePrefetching, nil), status.InProgressStatus},
			"prefetched":  {observed(refitv1alpha1.NodePrefetched, nil), status.InProgressStatus},
			"applying":    {observed(refitv1alpha1.NodeApplying, nil), status.InProgressStatus},
			"succeeded":   {observed(refitv1alpha1.NodeSucceeded, nil), status.CurrentStatus}, // also under Hold, once it succeeded
			"failed":      {observed(refitv1alpha1.NodeFailed, nil), status.FailedStatus},
			"rollingback": {observed(refitv1alpha1.NodeRollingBack, nil), status.InProgressStatus},
			"rolledback":  {observed(refitv1alpha1.NodeRolledBack, nil), status.FailedStatus},
			"refused":     {observed(refitv1alpha1.NodeIdle, &node.Refusal{Reason: "StaleEpoch", Message: "a newer leader exists"}), status.FailedStatus},
		} {
			if got := kstatusOf(t, s, smallest("NodeUpgrade", "kstatus-"+name), tt.change); got != tt.want {
				t.Errorf("NodeUpgrade %s is %s, want %s", name, got, tt.want)
			}
		}
	})
}
