package agent

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// A report that was begun before the question was known says that it answers none. It must not stay the last word.
func TestAQuestionThatTheLastReportForgotIsAnsweredAgain(t *testing.T) {
	r := newReporter(newTestAgent(t, &apiStub{}))
	woken := func() bool {
		select {
		case <-r.wake:
			return true
		default:
			return false
		}
	}
	question := func(request, answered int64) *refitv1alpha1.NodeReport {
		return &refitv1alpha1.NodeReport{Spec: refitv1alpha1.NodeReportSpec{Request: request}, Status: refitv1alpha1.NodeReportStatus{Answered: answered}}
	}
	for _, step := range []struct {
		name              string
		request, answered int64
		wakes             bool
	}{
		{"the first look at the object, answered by a former life of the agent", 5, 5, true},
		{"nothing new", 5, 5, false},
		{"a report of this life that knew of no question", 5, 0, true},
		{"a new question", 6, 5, true},
		{"its answer", 6, 6, false},
	} {
		r.asked(question(step.request, step.answered))
		if got := woken(); got != step.wakes {
			t.Errorf("%s: woken %v", step.name, got)
		}
	}
}
