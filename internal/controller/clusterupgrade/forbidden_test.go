package clusterupgrade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// The policy refit-controller-active denies with the reason Forbidden, not Invalid. Nodes that have
// a claim continue.
func TestAStatusThatAdmissionForbidsIsReportedAndDropsClaimsOnly(t *testing.T) {
	u := operationAt(3)
	u.Status.Active = []string{"worker-1"}
	s := newScene(t, u)
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if u, is := o.(*refitv1alpha1.ClusterUpgrade); is && len(u.Status.Active) > 1 {
				return apierrors.NewForbidden(schema.GroupResource{Group: "refit.dev", Resource: "clusterupgrades"}, u.Name,
					errors.New("ValidatingAdmissionPolicy 'refit-controller-active' denied request: the pools allow fewer active nodes"))
			}
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
	})
	stored := &refitv1alpha1.ClusterUpgrade{}
	key := types.NamespacedName{Name: "to-v1.36"}
	if err := s.Client.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	obs := &observation{
		operation: stored, nodes: map[string]*cluster.Node{}, snapshot: &cluster.Snapshot{}, now: time.Now(),
		Assessment: &assess.Assessment{Plan: &plan.Plan{From: "v1.35.4", To: "v1.36.3"}, Decision: plan.Decision{State: plan.Running, Actions: []plan.Action{
			{Kind: plan.Uncordon, Node: "worker-1"}, {Kind: plan.Claim, Node: "worker-2"},
		}}},
	}
	err := s.writeStatus(t.Context(), obs)
	got := &refitv1alpha1.ClusterUpgrade{}
	if e := s.Client.Get(t.Context(), key, got); e != nil {
		t.Fatal(e)
	}
	if err != nil || len(got.Status.Waiting) != 1 || got.Status.Waiting[0].Reason != refitv1alpha1.ReasonStatusRefused {
		t.Errorf("error %v; the status reports nothing: phase %q, waiting %v", err, got.Status.Phase, got.Status.Waiting)
	}
	if left := obs.Decision.Actions; len(left) != 1 || left[0].Kind != plan.Uncordon {
		t.Errorf("it would execute %+v", left)
	}
	if remedy := got.Status.Waiting[0].Remedy; !strings.Contains(remedy, "admission policies") {
		t.Errorf("the remedy is %q", remedy)
	}
}
