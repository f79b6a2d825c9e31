package clusterupgrade

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func TestAnActionThatAWebhookDeniesReachesTheStatus(t *testing.T) {
	s := newScene(t, worker())
	start := time.Now()
	s.Now = func() time.Time { return start }
	s.failing = apierrors.NewForbidden(corev1.Resource("nodes"), "worker-1", errors.New("admission webhook \"nodes.example.com\" denied the request"))
	cordon := plan.Action{Kind: plan.Cordon, Node: "worker-1", Reason: "it is drained next"}
	decide := func(after time.Duration) plan.Decision {
		if err := s.execute(asObserved, cordon); err == nil && s.failing != nil {
			t.Fatal("the webhook is ignored")
		}
		d := plan.Decision{State: plan.Running, Message: "Cordoning worker-1", Actions: []plan.Action{cordon}}
		d.ReportFailed(s.failures.of("op", d.Actions), start.Add(after))
		return d
	}
	if d := decide(10 * time.Second); d.State != plan.Running || len(d.Waiting) > 0 {
		t.Errorf("a failure of some seconds is reported: %+v", d)
	}
	d := decide(2 * time.Minute)
	if d.State != plan.Stalled || len(d.Waiting) != 1 {
		t.Fatalf("it is %s and waits for %+v", d.State, d.Waiting)
	}
	const want = "Cannot execute Cordon on worker-1: cannot patch node: nodes \"worker-1\" is forbidden: admission webhook \"nodes.example.com\" denied the request"
	if w := d.Waiting[0]; w.Reason != refitv1alpha1.ReasonActionFailed || !w.ManualIntervention || w.Remedy == "" || w.Message != want {
		t.Errorf("it waits for %+v", w)
	}
	s.failing = nil
	if d := decide(3 * time.Minute); d.State != plan.Running || len(d.Waiting) > 0 {
		t.Errorf("it still waits: %+v", d)
	}
}

func TestAFailureOfAnActionThatIsNoLongerDecidedIsForgotten(t *testing.T) {
	var f actionFailures
	cordon := plan.Action{Kind: plan.Cordon, Node: "worker-1"}
	f.note("op", &cordon, errors.New("denied"), time.Now())
	if got := f.of("op", nil); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := f.of("op", []plan.Action{cordon}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestAChangingTextOfAnErrorDoesNotChangeTheStatusEachTime(t *testing.T) {
	var f actionFailures
	cordon, start := plan.Action{Kind: plan.Cordon, Node: "worker-1"}, time.Now()
	texts := map[string]bool{}
	for i := range 60 {
		err := apierrors.NewForbidden(corev1.Resource("nodes"), "worker-1", fmt.Errorf("request %d was denied", i))
		f.note("op", &cordon, err, start.Add(time.Duration(i)*10*time.Second))
		texts[f.of("op", []plan.Action{cordon})[0].Err.Error()] = true
	}
	if len(texts) > 2 {
		t.Errorf("%d texts within 10 minutes", len(texts))
	}
	f.note("op", &cordon, apierrors.NewTooManyRequests("later", 1), start.Add(10*time.Minute))
	if got := f.of("op", []plan.Action{cordon})[0]; !apierrors.IsTooManyRequests(got.Err) || got.Since != start {
		t.Errorf("the new reason is not reported: %+v", got)
	}
}

func TestTheTextOfAFailureFollowsTheError(t *testing.T) {
	cordon, start := plan.Action{Kind: plan.Cordon, Node: "worker-1"}, time.Now()
	denied := func(by string) error {
		return apierrors.NewForbidden(corev1.Resource("nodes"), "worker-1", fmt.Errorf("webhook %s denied it", by))
	}
	const dial = "read tcp 10.0.0.7:%d->10.0.0.9:6443: i/o timeout after 1m%d.5s"
	for situation, tt := range map[string]struct {
		first, second error
		follows       bool
	}{
		"another error":                {errors.New("connection refused"), errors.New("certificate has expired"), true},
		"another error of the API":     {denied("a"), denied("b"), true},
		"the same error":               {errors.New("connection refused"), errors.New("connection refused"), false},
		"the same with other numbers":  {fmt.Errorf(dial, 40112, 3), fmt.Errorf(dial, 40113, 4), false},
		"the same for another Pod":     {errors.New("cannot evict web-1"), errors.New("cannot evict web-2"), true},
		"of the API, with other words": {apierrors.NewInternalError(errors.New("a")), apierrors.NewInternalError(errors.New("b")), true},
	} {
		t.Run(situation, func(t *testing.T) {
			var f actionFailures
			f.note("op", &cordon, tt.first, start)
			f.note("op", &cordon, tt.second, start.Add(time.Second))
			got := f.of("op", []plan.Action{cordon})[0]
			want := tt.first
			if tt.follows {
				want = tt.second
			}
			if got.Err.Error() != want.Error() || got.Since != start {
				t.Errorf("%v since %v", got.Err, got.Since.Sub(start))
			}
		})
	}
}
