package steps

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/components/offer"
)

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
