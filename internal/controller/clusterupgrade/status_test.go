package clusterupgrade

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// refuseFailures lets the API refuse every status that lists failures.
func (s *scene) refuseFailures() {
	inner, is := s.Client.(client.WithWatch)
	if !is {
		s.t.Fatal("the client cannot watch")
	}
	s.Client = interceptor.NewClient(inner, interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if u, is := o.(*refitv1alpha1.ClusterUpgrade); is && len(u.Status.Failures) > 0 {
				return apierrors.NewInvalid(schema.GroupKind{Group: "refit.dev", Kind: "ClusterUpgrade"}, u.Name, field.ErrorList{
					field.TooLong(field.NewPath("status", "failures").Index(0).Child("message"), "", 256),
				})
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
}

// write writes the status of a decision that lists a failure, and returns the stored operation.
func (s *scene) write(change func(*refitv1alpha1.ClusterUpgrade), d plan.Decision) (*refitv1alpha1.ClusterUpgrade, *observation) {
	s.t.Helper()
	key := types.NamespacedName{Name: "to-v1.36"}
	u := &refitv1alpha1.ClusterUpgrade{}
	if err := s.Client.Get(s.t.Context(), key, u); err != nil {
		s.t.Fatal(err)
	}
	change(u)
	d.Failures = []refitv1alpha1.Failure{{Node: "worker-1"}}
	obs := &observation{
		operation: u, nodes: map[string]*cluster.Node{}, snapshot: &cluster.Snapshot{}, now: time.Now(),
		Assessment: &assess.Assessment{Plan: &plan.Plan{From: "v1.35.4", To: "v1.36.3"}, Decision: d},
	}
	if err := s.writeStatus(s.t.Context(), obs); err != nil {
		s.t.Fatal(err)
	}
	stored := &refitv1alpha1.ClusterUpgrade{}
	if err := s.Client.Get(s.t.Context(), key, stored); err != nil {
		s.t.Fatal(err)
	}
	return stored, obs
}

func TestARefusedStatusStallsTheOperationAndClaimsNothing(t *testing.T) {
	u := operationAt(3)
	u.Status.Active = []string{"worker-1"}
	s := newScene(t, u)
	s.refuseFailures()
	stored, obs := s.write(func(*refitv1alpha1.ClusterUpgrade) {}, plan.Decision{State: plan.Running, Message: "Starting with worker-2", Actions: []plan.Action{
		{Kind: plan.Claim, Node: "worker-2", Reason: "1 of 1"}, {Kind: plan.Drain, Node: "worker-1", Reason: "1 pod has to move"},
	}})
	if stored.Status.Phase != refitv1alpha1.PhaseStalled || !slices.Equal(stored.Status.Active, []string{"worker-1"}) || stored.Status.Epoch != 3 {
		t.Errorf("stored %+v", stored.Status)
	}
	if w := stored.Status.Waiting; len(w) != 1 || w[0].Reason != refitv1alpha1.ReasonStatusRefused || !w[0].ActionRequired || w[0].Remedy == "" {
		t.Errorf("it waits for %+v", stored.Status.Waiting)
	}
	if left := obs.Decision.Actions; len(left) != 1 || left[0].Kind != plan.Drain {
		t.Errorf("it would execute %+v", left)
	}
}

func TestAnAbortWorksAlthoughTheStatusIsRefused(t *testing.T) {
	u := operationAt(3)
	u.Status.Active = []string{"worker-1"}
	s := newScene(t, u)
	s.refuseFailures()
	abort := func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Aborted = true }
	stored, obs := s.write(abort, plan.Decision{State: plan.Aborting, Message: "Uncordoning worker-1", Actions: []plan.Action{
		{Kind: plan.Uncordon, Node: "worker-1", Reason: "it was rolled back"}, {Kind: plan.ReleaseNode, Node: "worker-1", Reason: "it was rolled back"},
	}})
	if len(stored.Status.Active) > 0 || len(obs.Decision.Actions) != 2 {
		t.Errorf("active %v, executes %+v", stored.Status.Active, obs.Decision.Actions)
	}
	stored, _ = s.write(abort, plan.Decision{State: plan.Aborting, Message: "Finishing", Actions: []plan.Action{{Kind: plan.Finish, Reason: "no node is active"}}})
	if stored.Status.Phase != refitv1alpha1.PhaseAborted || !stored.HasEnded() {
		t.Errorf("stored %+v", stored.Status)
	}
}
