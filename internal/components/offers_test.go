package components

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWhenOffersAreComputedAgain(t *testing.T) {
	with := func(reason string) *refitv1alpha1.ComponentStatus {
		return &refitv1alpha1.ComponentStatus{Offers: []refitv1alpha1.ComponentOffer{{}, {Problems: []refitv1alpha1.ComponentProblem{{Reason: reason}}}}}
	}
	for name, test := range map[string]struct {
		status   *refitv1alpha1.ComponentStatus
		complete bool
		want     time.Duration
	}{
		"no problem":              {&refitv1alpha1.ComponentStatus{}, true, resyncInterval},
		"problem of the release":  {with("ComponentNotAdopted"), true, resyncInterval},
		"failed check":            {with("CheckFailed"), true, failedInterval},
		"components are not read": {with("CheckFailed"), false, busyInterval},
	} {
		if got := intervalOf(test.status, test.complete); got != test.want {
			t.Errorf("%s: after %s, want %s", name, got, test.want)
		}
	}
}
