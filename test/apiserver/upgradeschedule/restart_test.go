//go:build apiserver

package upgradeschedule

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/controller/upgradeschedule"
)

// run runs the controller with leader election until the returned function is called.
func (b *bed) run() (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		options := controller.Options{Config: b.config, Log: slog.New(slog.DiscardHandler), Controllers: []controller.Setup{upgradeschedule.Setup}}
		if err := controller.Run(ctx, options); err != nil {
			b.t.Errorf("the controller ended: %v", err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	b.t.Cleanup(stop)
	return stop
}

// TestAControllerThatRestartsAtTheTimeOfAStart stops an installed controller about when a start is
// due, and starts another one.
func TestAControllerThatRestartsAtTheTimeOfAStart(t *testing.T) {
	for situation, offset := range map[string]time.Duration{
		"shortly before": -50 * time.Millisecond, "at the time": 0, "shortly after": 15 * time.Millisecond, "after": 400 * time.Millisecond,
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.releases(map[string]int{"v1.35.5": 9})
			stop := b.run()
			at := metav1.NewTime(time.Now().Add(6 * time.Second).Truncate(time.Second))
			s := &refitv1alpha1.UpgradeSchedule{ObjectMeta: metav1.ObjectMeta{Name: name}}
			s.Spec.At, s.Spec.Channel.Follow = &at, refitv1alpha1.FollowPatch
			must(t, b.client.Create(t.Context(), s))
			b.wait("the controller has the next start", func() (bool, string) {
				return b.schedule().Status.NextScheduleTime != nil || time.Now().After(at.Time), "it has none"
			})
			<-time.After(time.Until(at.Add(offset)))
			stop()
			b.run()
			b.wait("the start has a result", func() (bool, string) {
				s := b.schedule().Status
				return s.LastScheduleTime != nil, s.LastMessage
			})
			u := b.operation()
			b.hasResult(refitv1alpha1.StartStarted, "")
			if u.Name != b.operationOf(at.Time) {
				t.Errorf("the upgrade is %s", u.Name)
			}
			t.Logf("the upgrade was created within %s", u.CreationTimestamp.Sub(at.Time))
		})
	}
}
