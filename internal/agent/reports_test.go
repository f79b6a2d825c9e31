package agent

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// A report that started before the request was known has no request number. It must not stay the
// last one.
func TestRequestMissedByTheLastReportIsAnswered(t *testing.T) {
	r := newReporter(newTestAgent(t, &apiStub{}))
	woken := func() bool {
		select {
		case <-r.wake:
			return true
		default:
			return false
		}
	}
	object := func(request, answered int64) *refitv1alpha1.NodeReport {
		return &refitv1alpha1.NodeReport{Spec: refitv1alpha1.NodeReportSpec{Request: request}, Status: refitv1alpha1.NodeReportStatus{Answered: answered}}
	}
	for _, step := range []struct {
		name              string
		request, answered int64
		wakes             bool
	}{
		{"first observation, answered before a restart", 5, 5, true},
		{"nothing new", 5, 5, false},
		{"report without a request number", 5, 0, true},
		{"new request", 6, 5, true},
		{"its report", 6, 6, false},
	} {
		r.requested(object(step.request, step.answered))
		if got := woken(); got != step.wakes {
			t.Errorf("%s: woken %v", step.name, got)
		}
	}
}
