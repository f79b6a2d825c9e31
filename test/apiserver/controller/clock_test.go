//go:build apiserver

package controller

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// shiftedDates changes the dates in the API server's responses: to the controller, its own clock is
// off by as much.
type shiftedDates struct {
	next http.RoundTripper
	by   *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (s shiftedDates) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err == nil {
		answer.Header.Set("Date", time.Now().Add(time.Duration(s.by.Load())).UTC().Format(http.TimeFormat))
	}
	return answer, err
}

func TestF73AControllerWhoseClockIsWrongStartsNothing(t *testing.T) {
	b := newBed(t, controlPlaneDone)
	var by atomic.Int64
	b.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return shiftedDates{next, &by} })
	held := b.hosts.hold("worker-1", "swap-kubelet")
	b.controllers()
	b.upgrade(op)
	b.comes("the kubelet of worker-1", held)
	by.Store(int64(10 * time.Minute))
	stalled := b.until(op, "reports the clock", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return len(o.Status.Waiting) > 0 && o.Status.Waiting[0].Reason == refitv1alpha1.ReasonClockSkewed
	})
	if w := stalled.Status.Waiting[0]; !w.ActionRequired || w.Remedy == "" {
		t.Errorf("it reports %+v", w)
	}
	held.letGo()
	b.until(op, "is stalled and idle", func(o *refitv1alpha1.ClusterUpgrade) bool {
		return o.Status.Phase == refitv1alpha1.PhaseStalled && idle(o)
	})
	b.atRest(append(controlPlane, "worker-1")...)
	by.Store(0)
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	b.atRest(everyNode...)
}
