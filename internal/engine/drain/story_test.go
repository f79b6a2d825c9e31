package drain

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// story is a drain whose API is the test.
type story struct {
	*view

	t       *testing.T
	now     time.Time
	flights map[string]task // by the pod's name
}

func tell(t *testing.T, order Order, pods ...*corev1.Pod) *story {
	t.Helper()
	s := &story{view: newView(order, start), t: t, now: start, flights: map[string]task{}}
	s.replace(pods)
	return s
}

func (s *story) later(d time.Duration) { s.now = s.now.Add(d) }

// asks requires that exactly these requests are made now: "evict cart-1", "remove cart-1", "list shop".
func (s *story) asks(want ...string) {
	s.t.Helper()
	var got []string
	s.watched()
	for _, t := range s.next(s.now) {
		if t.act == list {
			got = append(got, "list "+t.key.Namespace)
			s.flights[t.key.Namespace] = t
			continue
		}
		got = append(got, map[act]string{evict: "evict ", remove: "remove "}[t.act]+t.key.Name)
		s.flights[t.key.Name] = t
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("at %s it asks %q, want %q", s.now.Sub(start), got, want)
	}
}

func (s *story) answer(name string, err error) {
	s.t.Helper()
	t, flies := s.flights[name]
	if !flies {
		s.t.Fatalf("nobody asked for %s", name)
	}
	delete(s.flights, name)
	s.answered(t, read(err), s.now)
}

// blocked requires these blockers, each as "POD: REASON".
func (s *story) blocked(want ...string) Progress {
	s.t.Helper()
	p := s.progress(s.now)
	var got []string
	for _, b := range p.Blockers {
		got = append(got, b.Pod+": "+b.Reason)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("at %s the blockers are\n%s\nwant\n%s", s.now.Sub(start), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return p
}

// pdb is the budget shop/NAME of the pods of one app.
func pdb(name, app string, version, allowed, desired, healthy int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, ResourceVersion: fmt.Sprint(version), Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status: policyv1.PodDisruptionBudgetStatus{
			ObservedGeneration: 1, DisruptionsAllowed: allowed, DesiredHealthy: desired, CurrentHealthy: healthy, ExpectedPods: healthy,
		},
	}
}

var (
	cartKey    = key{Namespace: "shop", Name: "cart"}
	cartSays   = byBudget("The disruption budget cart needs 3 healthy pods and has 3 currently")
	cartReason = "PodDisruptionBudget shop/cart needs 3 healthy pods and has 3"
)

func TestABudgetRefusesAndNobodyIsAskedUntilItChanges(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2"), made("shop/cart-3"), made("shop/web-1"))
	s.flying = inFlight - 1 // one at a time
	s.asks("evict cart-1")
	s.answer("cart-1", cartSays)
	s.blocked("shop/cart-1: " + cartReason)
	s.asks() // which pods are the budget's is not known yet, so nobody of the namespace is asked
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	s.blocked("shop/cart-1: "+cartReason, "shop/cart-2: "+cartReason, "shop/cart-3: "+cartReason)
	s.asks("evict web-1")
	s.answer("web-1", nil)
	s.later(10 * time.Second)
	s.asks()
	s.sawBudget(cartKey, pdb("cart", "cart", 2, 0, 3, 2)) // changed, and yet the API would refuse
	s.asks()
	s.blocked("shop/cart-1: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2",
		"shop/cart-2: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2", "shop/cart-3: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2")

	s.flying = 0
	s.sawBudget(cartKey, pdb("cart", "cart", 3, 2, 3, 5))
	s.asks("evict cart-1", "evict cart-2") // as many as it allows, and not all
	s.answer("cart-1", nil)
	s.answer("cart-2", nil)
	p := s.blocked("shop/cart-3: PodDisruptionBudget shop/cart allows none at this moment")
	if want := (Progress{Remaining: 4, Moving: true, Evicted: 3, Refused: 1}); p.Remaining != want.Remaining || !p.Moving || p.Evicted != 3 || p.Refused != 1 {
		t.Errorf("the progress is %+v, want %+v", p, want)
	}
	if len(s.watched()) != 1 {
		t.Error("the budget is not watched, and a pod waits for it")
	}
	s.sawBudget(cartKey, pdb("cart", "cart", 4, 1, 3, 4))
	s.asks("evict cart-3")
	s.answer("cart-3", nil)
	if len(s.watched()) != 0 || len(s.budgets) != 0 {
		t.Error("the budget is watched, and nobody waits for it")
	}
}

func TestABudgetThatDoesNotChangeIsAskedNowAndThen(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2"))
	s.asks("evict cart-1", "evict cart-2")
	s.answer("cart-1", cartSays)
	s.answer("cart-2", cartSays)
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	for _, seconds := range []int{15, 30, 60, 60, 60} {
		half := time.Duration(seconds) * time.Second / 2
		s.later(half)
		s.asks()
		if wake := s.wake(s.now); wake.After(s.now.Add(half)) {
			t.Errorf("it would wake %s after %s", wake.Sub(s.now), s.now.Sub(start))
		}
		s.later(half)
		s.asks("evict cart-1") // one for all
		s.answer("cart-1", cartSays)
	}
}

func TestAnAnswerOlderThanTheBudgetsChangeIsNoRefusal(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2"))
	s.asks("evict cart-1", "evict cart-2")
	s.answer("cart-1", cartSays)
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 1, 3, 4)) // allows one by now
	s.answer("cart-2", cartSays)
	s.asks("evict cart-1")
}

func TestABudgetThatIsDeletedOrSelectsOthersHoldsNobody(t *testing.T) {
	for name, change := range map[string]*policyv1.PodDisruptionBudget{"deleted": nil, "another selector": pdb("cart", "other", 2, 0, 3, 3)} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, Order{}, made("shop/cart-1"))
			s.asks("evict cart-1")
			s.answer("cart-1", cartSays)
			s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
			s.asks()
			s.sawBudget(cartKey, change)
			s.asks("evict cart-1")
			s.answer("cart-1", cartSays) // the API sees it differently
			s.asks()
		})
	}
}

func TestAPodThatIsNotReadyGoesWhileItsBudgetIsSatisfied(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2", unready))
	s.asks("evict cart-1", "evict cart-2")
	s.answer("cart-1", cartSays)
	s.answer("cart-2", cartSays)
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 2))
	s.asks()
	s.sawBudget(cartKey, pdb("cart", "cart", 2, 0, 3, 3))
	s.asks("evict cart-2")
	s.answer("cart-2", cartSays)
	s.asks() // and not at once again
	s.saw(made("shop/cart-1", unready))
	s.asks("evict cart-1")
}

func TestAPodThatHasNotStartedIsAskedWhateverItsBudgetSays(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"))
	s.asks("evict cart-1")
	s.answer("cart-1", cartSays)
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 2))
	s.saw(made("shop/cart-2", withPhase(corev1.PodPending), unready))
	s.asks("evict cart-2")
	s.answer("cart-2", cartSays) // the API sees it differently
	s.asks()
}

func TestABudgetThatCannotBeWatchedHoldsTheNamespaceForAMoment(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/web-1"))
	s.flying = inFlight - 1
	s.asks("evict cart-1")
	s.answer("cart-1", cartSays)
	s.later(10 * time.Second)
	s.asks()
	s.later(5 * time.Second)
	s.asks("evict cart-1")
	s.answer("cart-1", cartSays)
	s.asks("evict web-1")
}

func TestAStatusThatDoesNotSpeakOfTheSpecAllowsNothing(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"))
	s.asks("evict cart-1")
	s.answer("cart-1", cartSays)
	changed := pdb("cart", "cart", 1, 5, 3, 8)
	changed.Generation = 2
	s.sawBudget(cartKey, changed)
	s.asks()
	s.blocked("shop/cart-1: PodDisruptionBudget shop/cart is new or changed, and its pods are not counted yet")
}

func TestTwoBudgetsCoverAPod(t *testing.T) {
	other := key{Namespace: "shop", Name: "all"}
	unnamed := ": two PodDisruptionBudgets cover it, and such a pod cannot be evicted: leave one of them"
	named := ": PodDisruptionBudgets all and cart both cover it, and such a pod cannot be evicted: leave one of them"
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2"), made("shop/cart-3"))
	s.flying = inFlight - 2
	s.asks("evict cart-1", "evict cart-2")
	s.answer("cart-1", crossedAnswer)
	s.blocked("shop/cart-1" + unnamed)
	s.asks("list shop")
	s.answer("cart-2", crossedAnswer)
	s.flying = 1
	s.asks("evict cart-3") // nothing is known of it yet; and one list is enough
	s.answer("cart-3", crossedAnswer)
	s.listed(s.flights["shop"], []policyv1.PodDisruptionBudget{*pdb("all", "cart", 1, 1, 1, 3), *pdb("cart", "cart", 2, 0, 3, 3), *pdb("web", "web", 3, 0, 3, 3)}, read(nil), s.now)
	s.blocked("shop/cart-1"+named, "shop/cart-2"+named, "shop/cart-3"+named)
	if watched := s.watched(); len(watched) != 2 || !watched[s.budgets[cartKey]] || !watched[s.budgets[other]] {
		t.Errorf("it watches %v", watched)
	}
	for _, seconds := range []int{30, 60, 120, 240, 300, 300} {
		half := time.Duration(seconds) * time.Second / 2
		s.later(half)
		s.asks()
		s.later(half)
		s.asks("evict cart-1")
		s.answer("cart-1", crossedAnswer)
	}
	s.sawBudget(cartKey, nil)
	s.asks("evict cart-1") // what is left allows one
}

func TestTwoBudgetsThatCannotBeNamedAreAskedForAgain(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"))
	s.asks("evict cart-1")
	s.answer("cart-1", crossedAnswer)
	s.asks("list shop")
	s.listed(s.flights["shop"], nil, read(status(500, "", "etcd is away")), s.now)
	s.asks()
	s.later(30 * time.Second)
	s.asks("evict cart-1")
	s.answer("cart-1", crossedAnswer)
	s.asks("list shop")
}

func TestWhatBudgetsHoldIsDeletedIfThePolicySaysSo(t *testing.T) {
	s := tell(t, Order{Delete: true}, made("shop/cart-1"), made("shop/cart-2"), made("shop/web-1"), made("shop/debug"))
	s.flying = inFlight - 2
	s.asks("evict cart-1", "evict web-1")
	s.answer("cart-1", cartSays)
	s.answer("web-1", crossedAnswer)
	s.asks("remove cart-1", "remove web-1")
	s.answer("cart-1", nil)
	s.answer("web-1", nil)
	s.asks() // the budget may be of the others, too
	s.sawBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	s.asks("remove cart-2") // without asking first
	s.answer("cart-2", nil)
	p := s.blocked("shop/debug: belongs to nobody: it would be gone for good (waive UnmanagedPod for it, or delete it)")
	if p.Deleted != 3 || p.Evicted != 0 || p.Refused != 2 {
		t.Errorf("the progress is %+v", p)
	}
}

func TestAPodOfNobodyStaysUnlessItIsWaived(t *testing.T) {
	s := tell(t, Order{Lose: func(namespace, name string) bool { return namespace+"/"+name == "shop/old" }}, made("shop/debug"), made("shop/old"))
	s.asks("evict old")
	s.answer("old", nil)
	s.lost(key{Namespace: "shop", Name: "old"}, "uid-old")
	s.later(time.Hour)
	s.asks()
	if p := s.blocked("shop/debug: belongs to nobody: it would be gone for good (waive UnmanagedPod for it, or delete it)"); p.Remaining != 1 || p.Moving {
		t.Errorf("the progress is %+v", p)
	}
	s.saysLive([]*corev1.Pod{made("shop/debug")}, read(nil), s.now, s.now)
	if s.empty {
		t.Error("it ends as empty")
	}
}

func TestAPodThatOutlivesItsTimeIsNamedWithWhatKeepsIt(t *testing.T) {
	leaving := func(finalizers ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: start.Add(30 * time.Second)}
			p.Finalizers = finalizers
		}
	}
	s := tell(t, Order{},
		made("shop/a-1", leaving("example.com/disk")), made("shop/b-1", leaving()), made("shop/c-1", leaving("batch.kubernetes.io/job-tracking")),
		made("shop/d-1", leaving("x.io/a", "x.io/b")), made("shop/e-1"))
	s.asks("evict e-1")
	s.answer("e-1", nil)
	s.later(89 * time.Second)
	if p := s.blocked(); !p.Moving || p.Remaining != 5 {
		t.Errorf("the progress is %+v", p)
	}
	if wake := s.wake(s.now); !wake.Equal(start.Add(90 * time.Second)) {
		t.Errorf("it wakes at %s", wake)
	}
	s.later(time.Second)
	s.asks()
	if p := s.blocked(
		"shop/a-1: its time to end is over, and it is kept by the finalizer example.com/disk",
		"shop/b-1: its time to end is over, and its kubelet has not ended it",
		"shop/d-1: its time to end is over, and it is kept by the finalizers x.io/a, x.io/b",
		"shop/c-1: its time to end is over, and its kubelet has not ended it",
		"shop/e-1: its time to end is over, and its kubelet has not ended it", // it was never seen to leave
	); p.Moving {
		t.Error("nothing moves")
	}
}

func TestTheAPIIsAway(t *testing.T) {
	away := errors.New("connection refused")
	s := tell(t, Order{}, made("shop/a-1"), made("shop/b-1"), made("shop/c-1"))
	s.asks("evict a-1", "evict b-1", "evict c-1")
	s.answer("a-1", away)
	s.answer("b-1", away)
	s.answer("c-1", away)
	s.asks()
	s.later(time.Second)
	s.asks("evict a-1") // one finds out
	s.later(28 * time.Second)
	s.answer("a-1", away)
	s.blocked()
	if wake := s.wake(s.now); wake.After(start.Add(30 * time.Second)) {
		t.Errorf("it wakes at %s", wake)
	}
	s.later(time.Second)
	s.blocked("*: the API does not answer")
	s.later(10 * time.Second)
	s.asks("evict a-1")
	s.answer("a-1", nil)
	if p := s.blocked(); !p.Moving {
		t.Error("nothing moves")
	}
	s.asks("evict b-1", "evict c-1")
	s.answer("b-1", status(403, metav1.StatusReasonForbidden, "RBAC has not been read yet"))
	if s.err != nil {
		t.Errorf("an API that has just come back lacks a right: %v", s.err)
	}
	s.asks() // not at once again
	s.later(time.Minute)
	s.asks("evict b-1")
	s.answer("b-1", status(403, metav1.StatusReasonForbidden, "no"))
	if s.err == nil || s.err.Error() != "the right to create pods/eviction in namespace shop is missing: no" {
		t.Errorf("the error is %v", s.err)
	}
	s.blocked("shop/b-1: the right to create pods/eviction in namespace shop is missing")
	s.asks()
}

func TestAPIAnswersThatHoldOnePodOrAll(t *testing.T) {
	s := tell(t, Order{}, made("shop/a-1"), made("shop/b-1"), made("shop/c-1"), made("shop/d-1"), made("shop/e-1"), made("shop/f-1"))
	s.asks("evict a-1", "evict b-1", "evict c-1", "evict d-1", "evict e-1", "evict f-1")
	s.answer("a-1", status(429, metav1.StatusReasonTooManyRequests, "migrating"))
	s.answer("b-1", status(503, metav1.StatusReasonServiceUnavailable, "etcd is away"))
	s.answer("c-1", because(apierrors.NewForbidden(pods, "c-1", errors.New("x")), corev1.NamespaceTerminatingCause, "x"))
	s.answer("d-1", status(404, metav1.StatusReasonNotFound, "no such pod"))
	s.answer("e-1", status(409, metav1.StatusReasonConflict, "another pod"))
	s.answer("f-1", apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "post", pods, "f-1", "", 5, true))
	if p := s.blocked("shop/a-1: the API refuses to evict it: migrating", "shop/c-1: its namespace is being deleted, and it ends with that"); p.Remaining != 5 || p.Refused != 2 {
		t.Errorf("the progress is %+v", p)
	}
	s.later(4 * time.Second)
	s.asks()
	s.later(time.Second)
	s.asks("evict b-1", "evict f-1")
	s.answer("f-1", nil)
	s.answer("b-1", status(503, metav1.StatusReasonServiceUnavailable, "etcd is away"))
	if !s.looksNow(s.now) {
		t.Error("the API knows another pod than the watch, and nobody looks")
	}
	s.saw(made("shop/e-1", func(p *corev1.Pod) { p.UID = "another" }))
	s.asks("evict e-1")
	s.later(25 * time.Second)
	s.blocked("shop/a-1: the API refuses to evict it: migrating", "shop/b-1: the API fails to evict it: etcd is away",
		"shop/c-1: its namespace is being deleted, and it ends with that")
	s.asks("evict a-1", "evict b-1")
}

func TestABusyNodeHasFewRequestsUnderWay(t *testing.T) {
	var many []*corev1.Pod
	for i := range 50 {
		many = append(many, made(fmt.Sprintf("shop/app%02d-1", i)))
	}
	s := tell(t, Order{}, many...)
	if n := len(s.next(s.now)); n != inFlight {
		t.Errorf("%d requests are under way", n)
	}
	if n := len(s.next(s.now)); n != 0 {
		t.Errorf("%d more are", n)
	}
}

func TestBlockersShowEachReasonBeforeOneTwice(t *testing.T) {
	s := tell(t, Order{}, made("shop/cart-1"), made("shop/cart-2"), made("shop/debug1"), made("shop/debug2"), made("shop/web-1"))
	s.asks("evict cart-1", "evict web-1", "evict cart-2")
	s.answer("cart-1", cartSays)
	s.answer("cart-2", cartSays)
	s.answer("web-1", byBudget("The disruption budget web needs 1 healthy pods and has 1 currently"))
	var pods []string
	for _, b := range s.progress(s.now).Blockers {
		pods = append(pods, b.Pod)
	}
	if want := []string{"shop/debug1", "shop/cart-1", "shop/web-1", "shop/debug2", "shop/cart-2"}; !slices.Equal(pods, want) {
		t.Errorf("the order is %q", pods)
	}
}

func TestReasonsKeepWithinTheBoundsOfTheAPI(t *testing.T) {
	long := strings.Repeat("x", 253)
	s := tell(t, Order{}, made("shop/cart-1"))
	s.asks("evict cart-1")
	s.answer("cart-1", byBudget("The disruption budget "+long+" needs 3 healthy pods and has 3 currently"))
	got := s.progress(s.now).Blockers[0].Reason
	if len([]rune(got)) > 128 || !strings.HasPrefix(got, "PodDisruptionBudget shop/xxx") || !strings.HasSuffix(got, "… needs 3 healthy pods and has 3") {
		t.Errorf("the reason is %q", got)
	}
	s.answered(task{key: key{Namespace: "shop", Name: "cart-1"}, uid: "uid-cart-1"}, answer{kind: refused, said: long}, s.now)
	for _, b := range s.progress(s.now).Blockers {
		if n := len([]rune(b.Reason)); n > 128 || n == 0 {
			t.Errorf("%d characters: %s", n, b.Reason)
		}
	}
}

func TestALiveReadDisagreesWithTheWatch(t *testing.T) {
	cart, web := made("shop/cart-1"), made("shop/web-1")
	leaving := made("shop/cart-1", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })
	for name, c := range map[string]struct {
		seen, live []*corev1.Pod
		behind     bool
	}{
		"both are empty":               {nil, nil, false},
		"both see a pod":               {[]*corev1.Pod{cart}, []*corev1.Pod{cart}, false},
		"a DaemonSet's pod is no news": {nil, []*corev1.Pod{made("x/y-1", ownedBy("DaemonSet", "y"))}, false},
		"it missed a pod":              {nil, []*corev1.Pod{cart}, true},
		"it missed an end":             {[]*corev1.Pod{cart, web}, []*corev1.Pod{web}, true},
		"it missed that a pod leaves":  {[]*corev1.Pod{cart}, []*corev1.Pod{leaving}, true},
		"it missed that it is another": {[]*corev1.Pod{cart}, []*corev1.Pod{made("shop/cart-1", func(p *corev1.Pod) { p.UID = "new" })}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, Order{}, c.seen...)
			s.saysLive(c.live, read(nil), s.now, s.now)
			if s.behind != c.behind || s.empty != (!c.behind && len(c.seen) == 0) {
				t.Errorf("behind: %t, empty: %t", s.behind, s.empty)
			}
			if !s.agrees(c.live) {
				t.Error("what the live read saw is not believed")
			}
		})
	}
}

func TestALiveReadIsMadeWhenItMatters(t *testing.T) {
	s := &story{view: newView(Order{}, start), t: t, now: start, flights: map[string]task{}}
	if s.looksNow(s.now) {
		t.Error("before anything is known")
	}
	s.replace(nil)
	if !s.looksNow(s.now) {
		t.Error("not when the node seems to be empty")
	}
	s.saysLive([]*corev1.Pod{made("shop/cart-1")}, read(nil), s.now, s.now)
	s.replace(nil)
	if s.looksNow(s.now) {
		t.Error("again at once, although the two disagree")
	}
	s.later(time.Second)
	if !s.looksNow(s.now) {
		t.Error("not a second later")
	}
	s.saw(made("shop/cart-1"))
	s.asks("evict cart-1")
	s.answer("cart-1", nil)
	s.later(89 * time.Second)
	if s.looksNow(s.now) {
		t.Error("while a pod has time to end")
	}
	s.later(time.Second)
	if !s.looksNow(s.now) {
		t.Error("not when a pod has outlived its time")
	}
	s.saysLive([]*corev1.Pod{made("shop/cart-1")}, read(nil), s.now, s.now)
	s.later(time.Second)
	if s.looksNow(s.now) {
		t.Error("again, for the same pod")
	}
	s.saysLive([]*corev1.Pod{made("shop/cart-1")}, read(nil), s.now, s.now)
	s.asks("evict cart-1") // the API had agreed, and nobody ends the pod
	s.later(believed)
	if !s.looksNow(s.now) {
		t.Error("not after ten minutes")
	}
}
