package steps

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// TestAPauseDuringTheCheck: the check waits for the end of the pause only until its order is held.
// Otherwise it would fail after its limit.
func TestAPauseDuringTheCheck(t *testing.T) {
	list, err := component.Compile(everything[1:])
	if err != nil {
		t.Fatal(err)
	}
	if list[0].Kind != component.StepCheck || !list[0].Waits {
		t.Errorf("the order is not read during %+v", list[0])
	}
	r, scheme := runOf("1"), runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	paused := &refitv1alpha1.ClusterUpgrade{}
	paused.Name, paused.Spec.Paused = r.order().Operation.Name, true
	r.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(paused).Build()
	permitted, hold := context.WithCancel(t.Context())
	r.Permitted, r.Waiting = permitted, func(string) { hold() }
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := check(ctx, r, list[0]); !errors.Is(err, ErrHeld) {
		t.Errorf("got %v, want %v", err, ErrHeld)
	}
}

func TestProblemsThatTheUserHasWaived(t *testing.T) {
	found := &offer.Offer{Problems: []offer.Problem{
		{Reason: "PeerUnknown", Object: "turin", Blocks: true}, {Reason: "UpgradeDeletesCRD", Object: "things.test", Blocks: true},
	}}
	live := &refitv1alpha1.ClusterUpgrade{}
	if problem := runOf("1").blocking(found, live); problem == nil || problem.Reason != "PeerUnknown" {
		t.Errorf("without a waiver: %+v", problem)
	}
	live.Spec.Waivers = []refitv1alpha1.Waiver{{Check: "PeerUnknown", Object: "turin"}, {Check: "UpgradeDeletesCRD"}}
	if problem := runOf("1").blocking(found, live); problem == nil || problem.Reason != "UpgradeDeletesCRD" {
		t.Errorf("a CRD would be deleted: %+v", problem)
	}
	found.Problems = found.Problems[:1]
	if problem := runOf("1").blocking(found, live); problem != nil {
		t.Errorf("it is waived: %+v", problem)
	}
	if problem := runOf("1").blocking(found, nil); problem == nil {
		t.Error("an operation that does not exist waives nothing")
	}
}
