//go:build apiserver

package upgradeschedule

import (
	"errors"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestAStartCreatesOneUpgrade(t *testing.T) {
	b := newBed(t)
	b.releases(map[string]int{"v1.35.5": 9, "v1.35.6": 9, "v1.36.3": 9})
	b.everyMinute(func(s *refitv1alpha1.UpgradeSchedule) {
		s.Spec.Template.Approval = refitv1alpha1.ApprovalNone
		s.Spec.Template.Waivers = []refitv1alpha1.Waiver{{Check: "BackupProven", Reason: "a test"}}
		s.Spec.Template.Pools = []refitv1alpha1.Pool{{Name: "gpu", NodeSelector: refitv1alpha1.Labels{"pool": "gpu"}}}
	})
	r := b.controller(b.config)
	b.reconcile(r)
	b.reconcile(r)
	u, s := b.operation(), b.schedule()
	if u.Name != b.operationOf(b.now) || u.Spec.Target.Release != "kubernetes-v1.35.6" || u.Spec.Approval != refitv1alpha1.ApprovalNone {
		t.Errorf("got %s: %+v", u.Name, u.Spec)
	}
	if len(u.Spec.Pools) != 1 || len(u.Spec.Waivers) != 1 || u.Labels[refitv1alpha1.LabelSchedule] != name {
		t.Errorf("got %+v, %+v", u.Labels, u.Spec)
	}
	b.hasResult(refitv1alpha1.StartStarted, "the upgrade to kubernetes-v1.35.6 was created")
	if s.Status.LastOperation != u.Name || s.Status.NextScheduleTime == nil || !s.Status.NextScheduleTime.After(b.now) ||
		!meta.IsStatusConditionTrue(s.Status.Conditions, refitv1alpha1.ConditionReady) {
		t.Errorf("the status is %+v", s.Status)
	}
}

func TestAStartIsSkippedWhileAnotherUpgradeIsInProgress(t *testing.T) {
	b := newBed(t)
	b.releases(map[string]int{"v1.35.5": 9})
	manual := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "manual"}}
	manual.Spec.Target.Kubernetes = "v1.35.5"
	must(t, b.client.Create(t.Context(), manual))
	b.everyMinute(b.once(time.Second, time.Hour))
	r := b.controller(b.config)
	b.reconcile(r)
	b.hasResult(refitv1alpha1.StartSkipped, "ClusterUpgrade manual had not ended at ")
	b.end(b.operation())
	b.reconcile(r)
	b.operation() // a start that was skipped is over
	s := b.schedule()
	s.Status.LastScheduleTime = nil // as if it were the next start
	b.since(s, b.now.Add(-time.Hour))
	b.reconcile(r)
	if all := b.operations(); len(all) != 2 {
		t.Errorf("there are %d ClusterUpgrades after the manual one ended, want 2: %+v", len(all), b.schedule().Status)
	}
}

func TestOneShotsAndDeadlines(t *testing.T) {
	for situation, test := range map[string]struct {
		ago, deadline time.Duration
		want          refitv1alpha1.StartResult
	}{
		"it is due":                       {time.Second, time.Hour, refitv1alpha1.StartStarted},
		"it is late, within the deadline": {30 * time.Minute, time.Hour, refitv1alpha1.StartStarted},
		"it is later than the deadline":   {30 * time.Minute, 10 * time.Minute, refitv1alpha1.StartMissed},
		"it is not due":                   {-30 * time.Minute, time.Hour, ""},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.releases(map[string]int{"v1.35.5": 9})
			b.everyMinute(b.once(test.ago, test.deadline))
			r := b.controller(b.config)
			for range 3 {
				b.reconcile(r)
			}
			b.hasResult(test.want, "")
			count := map[refitv1alpha1.StartResult]int{refitv1alpha1.StartStarted: 1}[test.want]
			if got := len(b.operations()); got != count {
				t.Errorf("there are %d ClusterUpgrades, want %d", got, count)
			}
			ready := meta.FindStatusCondition(b.schedule().Status.Conditions, refitv1alpha1.ConditionReady)
			if over := ready.Reason == refitv1alpha1.ReasonNoFurtherStart; ready.Status != metav1.ConditionTrue || over != (test.want != "") {
				t.Errorf("it is %+v", ready)
			}
		})
	}
}

func TestChannels(t *testing.T) {
	const week = 7 * 24 * time.Hour
	for situation, test := range map[string]struct {
		channel  refitv1alpha1.Channel
		releases map[string]int
		want     string
	}{
		"patch releases":                        {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowPatch}, map[string]int{"v1.35.5": 9, "v1.36.3": 9}, "kubernetes-v1.35.5"},
		"patch releases, the newest young":      {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowPatch, MinAge: metav1.Duration{Duration: week}}, map[string]int{"v1.35.5": 9, "v1.35.6": 2}, "kubernetes-v1.35.5"},
		"patch releases, all young":             {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowPatch, MinAge: metav1.Duration{Duration: week}}, map[string]int{"v1.35.6": 2}, ""},
		"nothing newer":                         {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowPatch}, map[string]int{"v1.35.4": 9, "v1.36.3": 9}, ""},
		"the next minor version":                {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowMinor}, map[string]int{"v1.35.5": 9, "v1.36.3": 9, "v1.36.2": 9, "v1.37.1": 9}, "kubernetes-v1.36.3"},
		"one behind the newest":                 {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowMinor, Lag: 1}, map[string]int{"v1.35.5": 9, "v1.36.3": 9}, "kubernetes-v1.35.5"},
		"one behind the newest, which is young": {refitv1alpha1.Channel{Follow: refitv1alpha1.FollowMinor, Lag: 1, MinAge: metav1.Duration{Duration: week}}, map[string]int{"v1.36.3": 9, "v1.37.1": 0}, "kubernetes-v1.36.3"},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t)
			b.releases(test.releases)
			b.everyMinute(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Channel = test.channel })
			b.reconcile(b.controller(b.config))
			target := b.schedule().Status.Target
			if target == nil || target.Release != test.want || target.From != running || target.Message == "" {
				t.Fatalf("it chooses %+v, want %q", target, test.want)
			}
			if test.want == "" {
				b.hasResult(refitv1alpha1.StartNothingNewer, target.Message)
				return
			}
			if got := b.operation().Spec.Target.Release; got != test.want {
				t.Errorf("the target is %q, want %q", got, test.want)
			}
		})
	}
}

func TestAnUpgradeThatSucceededIsNotRepeated(t *testing.T) {
	b := newBed(t)
	b.releases(map[string]int{"v1.35.5": 9})
	b.everyMinute(b.once(time.Second, time.Hour))
	r := b.controller(b.config)
	b.reconcile(r)
	b.end(b.operation())
	node, report := &corev1.Node{}, &refitv1alpha1.NodeReport{}
	must(t, b.client.Get(t.Context(), types.NamespacedName{Name: "cp-1"}, node))
	node.Status.NodeInfo.KubeletVersion = "v1.35.5"
	must(t, b.client.Status().Update(t.Context(), node))
	must(t, b.client.Get(t.Context(), types.NamespacedName{Name: "cp-1"}, report))
	report.Status.APIServer.Version = "v1.35.5"
	must(t, b.client.Status().Update(t.Context(), report))
	s := b.schedule()
	at := metav1.NewTime(b.now.Add(-time.Millisecond))
	s.Spec.At = &at
	must(t, b.client.Update(t.Context(), s))
	s.Status.LastScheduleTime = nil
	b.since(s, b.now.Add(-time.Hour))
	b.reconcile(r)
	b.operation()
}

func TestASuspendedScheduleStartsNothing(t *testing.T) {
	b := newBed(t)
	b.releases(map[string]int{"v1.35.5": 9})
	b.everyMinute(func(s *refitv1alpha1.UpgradeSchedule) { s.Spec.Suspend = true })
	r := b.controller(b.config)
	b.reconcile(r)
	if s := b.schedule().Status; len(b.operations()) != 0 || s.NextScheduleTime != nil || s.Target == nil {
		t.Fatalf("there are %d ClusterUpgrades, and the status is %+v", len(b.operations()), s)
	}
	s := b.schedule()
	s.Spec.Suspend, b.now = false, time.Now()
	must(t, b.client.Update(t.Context(), s))
	b.reconcile(r)
	if all := b.operations(); len(all) != 0 {
		t.Errorf("the resumed schedule made up for %s", all[0].Name)
	}
	b.wait("the next start takes place", func() (bool, string) {
		b.now = time.Now()
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
		must(t, err)
		return len(b.operations()) == 1, b.schedule().Status.LastMessage
	})
}

// TestAKilledControllerStartsOneUpgrade kills a controller before and after each of its writes; the
// next one continues.
func TestAKilledControllerStartsOneUpgrade(t *testing.T) {
	writes := 0
	for at := 1; at == 1 || at <= writes; at++ {
		for _, after := range []bool{false, true} {
			b := newBed(t)
			b.releases(map[string]int{"v1.35.5": 9})
			b.everyMinute(b.once(time.Second, time.Hour))
			killer := &apiserver.Killer{At: at, After: after}
			r := b.controller(killer.Config(b.config))
			b.wait("the controller is killed", func() (bool, string) {
				_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
				return killer.Dead() || errors.Is(err, apiserver.ErrKilled), b.schedule().Status.LastMessage
			})
			b.reconcile(b.controller(b.config))
			u := b.operation()
			if u.Name != b.operationOf(b.now.Add(-time.Second)) {
				t.Errorf("killed at write %d (after it: %v): the upgrade is %s", at, after, u.Name)
			}
			b.hasResult(refitv1alpha1.StartStarted, "")
			if s := b.schedule().Status; s.LastOperation != u.Name {
				t.Errorf("killed at write %d (after it: %v): the last upgrade is %q", at, after, s.LastOperation)
			}
		}
		if at == 1 {
			writes = writesOfAStart(t)
		}
	}
	t.Logf("a start has %d writes", writes)
	if writes < 3 {
		t.Errorf("a start has %d writes, want at least those of the slot, the upgrade and the status", writes)
	}
}

// writesOfAStart returns the number of writes of a start.
func writesOfAStart(t *testing.T) int {
	t.Helper()
	b := newBed(t)
	b.releases(map[string]int{"v1.35.5": 9})
	b.everyMinute(b.once(time.Second, time.Hour))
	killer := &apiserver.Killer{}
	b.reconcile(b.controller(killer.Config(b.config)))
	return min(killer.Writes(), 5) // refusals until the policies know the slot count, too
}

// TestTwoControllersStartOneUpgrade has two controllers that act at once, as after a leader was
// paused.
func TestTwoControllersStartOneUpgrade(t *testing.T) {
	for range 5 {
		b := newBed(t)
		b.releases(map[string]int{"v1.35.5": 9})
		b.everyMinute(b.once(time.Second, time.Hour))
		var all sync.WaitGroup
		for range 2 {
			r := b.controller(b.config)
			all.Go(func() {
				for range 30 {
					_, _ = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
				}
			})
		}
		all.Wait()
		b.reconcile(b.controller(b.config))
		b.operation()
		b.hasResult(refitv1alpha1.StartStarted, "")
	}
}

func TestEachScheduleHasASlotOfItsOwn(t *testing.T) {
	b := newBed(t)
	r := b.controller(b.config)
	used := map[string]string{}
	for _, other := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		s := &refitv1alpha1.UpgradeSchedule{ObjectMeta: metav1.ObjectMeta{Name: other, Labels: map[string]string{refitv1alpha1.LabelScheduleSlot: "0"}}}
		s.Spec.Cron, s.Spec.Channel.Follow = "0 2 * * 0", refitv1alpha1.FollowPatch
		must(t, b.client.Create(t.Context(), s))
		for range 2 {
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: other}})
			must(t, err)
		}
		must(t, b.client.Get(t.Context(), types.NamespacedName{Name: other}, s))
		slot := s.Labels[refitv1alpha1.LabelScheduleSlot]
		if used[slot] != "" || (slot == "") != (other == "i") {
			t.Errorf("%s has the slot %q of %q", other, slot, used[slot])
		}
		used[slot] = other
		ready := meta.FindStatusCondition(s.Status.Conditions, refitv1alpha1.ConditionReady)
		if stalled := ready.Reason == refitv1alpha1.ReasonTooManySchedules; stalled != (other == "i") {
			t.Errorf("%s is %+v", other, ready)
		}
	}
}
