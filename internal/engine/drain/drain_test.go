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

// drainTest is a drain with a simulated API.
type drainTest struct {
	*view

	t    *testing.T
	now  time.Time
	sent map[string]task // by the pod's name
}

func newDrainTest(t *testing.T, order Order, pods ...*corev1.Pod) *drainTest {
	t.Helper()
	s := &drainTest{view: newView(order, start), t: t, now: start, sent: map[string]task{}}
	s.replace(pods)
	return s
}

func (s *drainTest) advance(d time.Duration) { s.now = s.now.Add(d) }

// requests requires that exactly these requests are sent now: "evict cart-1", "delete cart-1",
// "list shop".
func (s *drainTest) requests(want ...string) {
	s.t.Helper()
	var got []string
	s.budgetsToWatch()
	for _, t := range s.next(s.now) {
		if t.action == listBudgets {
			got = append(got, "list "+t.key.Namespace)
			s.sent[t.key.Namespace] = t
			continue
		}
		got = append(got, map[action]string{evictPod: "evict ", deletePod: "delete "}[t.action]+t.key.Name)
		s.sent[t.key.Name] = t
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("at %s it sends %q, want %q", s.now.Sub(start), got, want)
	}
}

func (s *drainTest) respond(name string, err error) {
	s.t.Helper()
	t, sent := s.sent[name]
	if !sent {
		s.t.Fatalf("there is no request for %s", name)
	}
	delete(s.sent, name)
	s.handleResponse(t, classify(err), s.now)
}

// blocked requires these blockers, each as "POD: REASON".
func (s *drainTest) blocked(want ...string) Progress {
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

// pdb returns the budget shop/NAME for the pods of one app.
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
	cartKey     = key{Namespace: "shop", Name: "cart"}
	cartRefuses = budgetError("The disruption budget cart needs 3 healthy pods and has 3 currently")
	cartReason  = "PodDisruptionBudget shop/cart needs 3 healthy pods and has 3"
)

func TestRefusingBudgetIsNotTriedUntilItChanges(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2"), newPod("shop/cart-3"), newPod("shop/web-1"))
	s.inFlight = maxInFlight - 1 // one at a time
	s.requests("evict cart-1")
	s.respond("cart-1", cartRefuses)
	s.blocked("shop/cart-1: " + cartReason)
	s.requests() // the selector is unknown, so the whole namespace waits
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	s.blocked("shop/cart-1: "+cartReason, "shop/cart-2: "+cartReason, "shop/cart-3: "+cartReason)
	s.requests("evict web-1")
	s.respond("web-1", nil)
	s.advance(10 * time.Second)
	s.requests()
	s.updateBudget(cartKey, pdb("cart", "cart", 2, 0, 3, 2)) // changed, and allows nothing
	s.requests()
	s.blocked("shop/cart-1: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2",
		"shop/cart-2: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2", "shop/cart-3: PodDisruptionBudget shop/cart needs 3 healthy pods and has 2")

	s.inFlight = 0
	s.updateBudget(cartKey, pdb("cart", "cart", 3, 2, 3, 5))
	s.requests("evict cart-1", "evict cart-2") // as many as it allows
	s.respond("cart-1", nil)
	s.respond("cart-2", nil)
	p := s.blocked("shop/cart-3: PodDisruptionBudget shop/cart allows no disruption now")
	if want := (Progress{Remaining: 4, Progressing: true, Evicted: 3, Refused: 1}); p.Remaining != want.Remaining || !p.Progressing || p.Evicted != 3 || p.Refused != 1 {
		t.Errorf("the progress is %+v, want %+v", p, want)
	}
	if len(s.budgetsToWatch()) != 1 {
		t.Error("the budget is not watched although a pod waits")
	}
	s.updateBudget(cartKey, pdb("cart", "cart", 4, 1, 3, 4))
	s.requests("evict cart-3")
	s.respond("cart-3", nil)
	if len(s.budgetsToWatch()) != 0 || len(s.budgets) != 0 {
		t.Error("the budget is watched although no pod waits")
	}
}

func TestUnchangedBudgetIsProbed(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2"))
	s.requests("evict cart-1", "evict cart-2")
	s.respond("cart-1", cartRefuses)
	s.respond("cart-2", cartRefuses)
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	for _, seconds := range []int{15, 30, 60, 60, 60} {
		half := time.Duration(seconds) * time.Second / 2
		s.advance(half)
		s.requests()
		if wake := s.nextWake(s.now); wake.After(s.now.Add(half)) {
			t.Errorf("it wakes %s after %s", wake.Sub(s.now), s.now.Sub(start))
		}
		s.advance(half)
		s.requests("evict cart-1") // one for all pods
		s.respond("cart-1", cartRefuses)
	}
}

func TestRefusalBeforeAChangeIsIgnored(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2"))
	s.requests("evict cart-1", "evict cart-2")
	s.respond("cart-1", cartRefuses)
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 1, 3, 4)) // allows one by now
	s.respond("cart-2", cartRefuses)
	s.requests("evict cart-1")
}

func TestDeletedOrChangedBudgetBlocksNoPod(t *testing.T) {
	for name, change := range map[string]*policyv1.PodDisruptionBudget{"deleted": nil, "another selector": pdb("cart", "other", 2, 0, 3, 3)} {
		t.Run(name, func(t *testing.T) {
			s := newDrainTest(t, Order{}, newPod("shop/cart-1"))
			s.requests("evict cart-1")
			s.respond("cart-1", cartRefuses)
			s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
			s.requests()
			s.updateBudget(cartKey, change)
			s.requests("evict cart-1")
			s.respond("cart-1", cartRefuses) // the API still applies it
			s.requests()
		})
	}
}

func TestUnreadyPodIsEvictedWhileItsBudgetIsSatisfied(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2", unready))
	s.requests("evict cart-1", "evict cart-2")
	s.respond("cart-1", cartRefuses)
	s.respond("cart-2", cartRefuses)
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 2))
	s.requests()
	s.updateBudget(cartKey, pdb("cart", "cart", 2, 0, 3, 3))
	s.requests("evict cart-2")
	s.respond("cart-2", cartRefuses)
	s.requests() // not again at once
	s.updatePod(newPod("shop/cart-1", unready))
	s.requests("evict cart-1")
}

func TestPendingPodIgnoresItsBudget(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"))
	s.requests("evict cart-1")
	s.respond("cart-1", cartRefuses)
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 2))
	s.updatePod(newPod("shop/cart-2", withPhase(corev1.PodPending), unready))
	s.requests("evict cart-2")
	s.respond("cart-2", cartRefuses) // the API still applies it
	s.requests()
}

func TestUnknownSelectorBlocksTheNamespaceBriefly(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/web-1"))
	s.inFlight = maxInFlight - 1
	s.requests("evict cart-1")
	s.respond("cart-1", cartRefuses)
	s.advance(10 * time.Second)
	s.requests()
	s.advance(5 * time.Second)
	s.requests("evict cart-1")
	s.respond("cart-1", cartRefuses)
	s.requests("evict web-1")
}

func TestOutdatedBudgetStatusAllowsNothing(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"))
	s.requests("evict cart-1")
	s.respond("cart-1", cartRefuses)
	changed := pdb("cart", "cart", 1, 5, 3, 8)
	changed.Generation = 2
	s.updateBudget(cartKey, changed)
	s.requests()
	s.blocked("shop/cart-1: PodDisruptionBudget shop/cart is new or changed, and its status is not up to date")
}

func TestTwoBudgetsSelectAPod(t *testing.T) {
	other := key{Namespace: "shop", Name: "all"}
	unnamed := ": two PodDisruptionBudgets select it, so it cannot be evicted: delete one of them"
	named := ": PodDisruptionBudgets all and cart both select it, so it cannot be evicted: delete one of them"
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2"), newPod("shop/cart-3"))
	s.inFlight = maxInFlight - 2
	s.requests("evict cart-1", "evict cart-2")
	s.respond("cart-1", overlapError)
	s.blocked("shop/cart-1" + unnamed)
	s.requests("list shop")
	s.respond("cart-2", overlapError)
	s.inFlight = 1
	s.requests("evict cart-3") // its overlap is unknown yet, and one list is enough
	s.respond("cart-3", overlapError)
	s.listed(s.sent["shop"], []policyv1.PodDisruptionBudget{*pdb("all", "cart", 1, 1, 1, 3), *pdb("cart", "cart", 2, 0, 3, 3), *pdb("web", "web", 3, 0, 3, 3)}, classify(nil), s.now)
	s.blocked("shop/cart-1"+named, "shop/cart-2"+named, "shop/cart-3"+named)
	if watched := s.budgetsToWatch(); len(watched) != 2 || !watched[s.budgets[cartKey]] || !watched[s.budgets[other]] {
		t.Errorf("it watches %v", watched)
	}
	for _, seconds := range []int{30, 60, 120, 240, 300, 300} {
		half := time.Duration(seconds) * time.Second / 2
		s.advance(half)
		s.requests()
		s.advance(half)
		s.requests("evict cart-1")
		s.respond("cart-1", overlapError)
	}
	s.updateBudget(cartKey, nil)
	s.requests("evict cart-1") // the other budget allows one
}

func TestOverlappingBudgetsAreListedAgainAfterAnError(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"))
	s.requests("evict cart-1")
	s.respond("cart-1", overlapError)
	s.requests("list shop")
	s.listed(s.sent["shop"], nil, classify(statusError(500, "", "etcd is down")), s.now)
	s.requests()
	s.advance(30 * time.Second)
	s.requests("evict cart-1")
	s.respond("cart-1", overlapError)
	s.requests("list shop")
}

func TestRefusedPodsAreDeletedIfThePolicyAllowsIt(t *testing.T) {
	s := newDrainTest(t, Order{Delete: true}, newPod("shop/cart-1"), newPod("shop/cart-2"), newPod("shop/web-1"), newPod("shop/debug"))
	s.inFlight = maxInFlight - 2
	s.requests("evict cart-1", "evict web-1")
	s.respond("cart-1", cartRefuses)
	s.respond("web-1", overlapError)
	s.requests("delete cart-1", "delete web-1")
	s.respond("cart-1", nil)
	s.respond("web-1", nil)
	s.requests() // the budget may select the others, too
	s.updateBudget(cartKey, pdb("cart", "cart", 1, 0, 3, 3))
	s.requests("delete cart-2") // without an eviction first
	s.respond("cart-2", nil)
	p := s.blocked("shop/debug: has no controller, so nothing recreates it: waive UnmanagedPod for it, or delete it")
	if p.Deleted != 3 || p.Evicted != 0 || p.Refused != 2 {
		t.Errorf("the progress is %+v", p)
	}
}

func TestUnmanagedPodStaysUnlessItIsWaived(t *testing.T) {
	s := newDrainTest(t, Order{Waived: func(namespace, name string) bool { return namespace+"/"+name == "shop/old" }}, newPod("shop/debug"), newPod("shop/old"))
	s.requests("evict old")
	s.respond("old", nil)
	s.removePod(key{Namespace: "shop", Name: "old"}, "uid-old")
	s.advance(time.Hour)
	s.requests()
	if p := s.blocked("shop/debug: has no controller, so nothing recreates it: waive UnmanagedPod for it, or delete it"); p.Remaining != 1 || p.Progressing ||
		p.Blockers[0].Waiver != "UnmanagedPod" || p.Blockers[0].Object != "Pod shop/debug" {
		t.Errorf("the progress is %+v", p)
	}
	s.handleLiveRead([]*corev1.Pod{newPod("shop/debug")}, classify(nil), s.now, s.now)
	if s.drained {
		t.Error("the drain ends")
	}
}

func TestALongGracePeriodIsNamedWithItsEnd(t *testing.T) {
	grace := func(seconds int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
	}
	s := newDrainTest(t, Order{}, newPod("shop/cart-1", grace(120)), newPod("shop/db-1", grace(3600)))
	s.requests("evict cart-1", "evict db-1")
	s.respond("cart-1", nil)
	s.respond("db-1", nil)
	const why = "shop/db-1: terminates, and its grace period of 1h0m0s ends at "
	if p := s.blocked(why + start.Add(time.Hour).UTC().Format(time.RFC3339)); !p.Progressing {
		t.Errorf("the progress is %+v", p)
	}
}

func TestPodBeyondItsGracePeriodIsReported(t *testing.T) {
	terminating := func(finalizers ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: start.Add(30 * time.Second)}
			p.Finalizers = finalizers
		}
	}
	s := newDrainTest(t, Order{},
		newPod("shop/a-1", terminating("example.com/disk")), newPod("shop/b-1", terminating()), newPod("shop/c-1", terminating("batch.kubernetes.io/job-tracking")),
		newPod("shop/d-1", terminating("x.io/a", "x.io/b")), newPod("shop/e-1"))
	s.requests("evict e-1")
	s.respond("e-1", nil)
	s.advance(89 * time.Second)
	if p := s.blocked(); !p.Progressing || p.Remaining != 5 {
		t.Errorf("the progress is %+v", p)
	}
	if wake := s.nextWake(s.now); !wake.Equal(start.Add(90 * time.Second)) {
		t.Errorf("it wakes at %s", wake)
	}
	s.advance(time.Second)
	s.requests()
	if p := s.blocked(
		"shop/a-1: its grace period has expired, and the finalizer example.com/disk keeps it",
		"shop/b-1: its grace period has expired, and its kubelet has not stopped it",
		"shop/d-1: its grace period has expired, and the finalizers x.io/a, x.io/b keep it",
		"shop/c-1: its grace period has expired, and its kubelet has not stopped it",
		"shop/e-1: its grace period has expired, and its kubelet has not stopped it",
	); p.Progressing {
		t.Error("it progresses")
	}
}

func TestUnreachableAPI(t *testing.T) {
	refused := errors.New("connection refused")
	s := newDrainTest(t, Order{}, newPod("shop/a-1"), newPod("shop/b-1"), newPod("shop/c-1"))
	s.requests("evict a-1", "evict b-1", "evict c-1")
	s.respond("a-1", refused)
	s.respond("b-1", refused)
	s.respond("c-1", refused)
	s.requests()
	s.advance(time.Second)
	s.requests("evict a-1") // one request probes
	s.advance(28 * time.Second)
	s.respond("a-1", refused)
	s.blocked()
	if wake := s.nextWake(s.now); wake.After(start.Add(30 * time.Second)) {
		t.Errorf("it wakes at %s", wake)
	}
	s.advance(time.Second)
	s.blocked("*: the API server is unreachable")
	s.advance(10 * time.Second)
	s.requests("evict a-1")
	s.respond("a-1", nil)
	if p := s.blocked(); !p.Progressing {
		t.Error("it does not progress")
	}
	s.requests("evict b-1", "evict c-1")
	s.respond("b-1", statusError(403, metav1.StatusReasonForbidden, "RBAC has not been read yet"))
	if s.err != nil {
		t.Errorf("a permission counts as missing right after an outage: %v", s.err)
	}
	s.requests() // not again at once
	s.advance(time.Minute)
	s.requests("evict b-1")
	s.respond("b-1", statusError(403, metav1.StatusReasonForbidden, "no"))
	if s.err == nil || s.err.Error() != "the permission to create pods/eviction in namespace shop is missing: no" {
		t.Errorf("the error is %v", s.err)
	}
	s.blocked("shop/b-1: the permission to create pods/eviction in namespace shop is missing")
	s.requests()
}

func TestResponsesThatBlockOnePodOrAll(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/a-1"), newPod("shop/b-1"), newPod("shop/c-1"), newPod("shop/d-1"), newPod("shop/e-1"), newPod("shop/f-1"))
	s.requests("evict a-1", "evict b-1", "evict c-1", "evict d-1", "evict e-1", "evict f-1")
	s.respond("a-1", statusError(429, metav1.StatusReasonTooManyRequests, "migrating"))
	s.respond("b-1", statusError(503, metav1.StatusReasonServiceUnavailable, "etcd is down"))
	s.respond("c-1", withCause(apierrors.NewForbidden(pods, "c-1", errors.New("x")), corev1.NamespaceTerminatingCause, "x"))
	s.respond("d-1", statusError(404, metav1.StatusReasonNotFound, "no such pod"))
	s.respond("e-1", statusError(409, metav1.StatusReasonConflict, "another pod"))
	s.respond("f-1", apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "post", pods, "f-1", "", 5, true))
	if p := s.blocked("shop/a-1: its eviction is denied: migrating", "shop/c-1: its namespace is terminating, which deletes it"); p.Remaining != 5 || p.Refused != 2 {
		t.Errorf("the progress is %+v", p)
	}
	s.advance(4 * time.Second)
	s.requests()
	s.advance(time.Second)
	s.requests("evict b-1", "evict f-1")
	s.respond("f-1", nil)
	s.respond("b-1", statusError(503, metav1.StatusReasonServiceUnavailable, "etcd is down"))
	if !s.needsLiveRead(s.now) {
		t.Error("no live read although the API has another pod than the watch")
	}
	s.updatePod(newPod("shop/e-1", func(p *corev1.Pod) { p.UID = "another" }))
	s.requests("evict e-1")
	s.advance(25 * time.Second)
	s.blocked("shop/a-1: its eviction is denied: migrating", "shop/b-1: its eviction fails: etcd is down",
		"shop/c-1: its namespace is terminating, which deletes it")
	s.requests("evict a-1", "evict b-1")
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	var many []*corev1.Pod
	for i := range 50 {
		many = append(many, newPod(fmt.Sprintf("shop/app%02d-1", i)))
	}
	s := newDrainTest(t, Order{}, many...)
	if n := len(s.next(s.now)); n != maxInFlight {
		t.Errorf("%d requests are in flight", n)
	}
	if n := len(s.next(s.now)); n != 0 {
		t.Errorf("%d more are", n)
	}
}

func TestBlockersHaveEachReasonFirst(t *testing.T) {
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"), newPod("shop/cart-2"), newPod("shop/debug1"), newPod("shop/debug2"), newPod("shop/web-1"))
	s.requests("evict cart-1", "evict web-1", "evict cart-2")
	s.respond("cart-1", cartRefuses)
	s.respond("cart-2", cartRefuses)
	s.respond("web-1", budgetError("The disruption budget web needs 1 healthy pods and has 1 currently"))
	var pods []string
	for _, b := range s.progress(s.now).Blockers {
		pods = append(pods, b.Pod)
	}
	if want := []string{"shop/debug1", "shop/cart-1", "shop/web-1", "shop/debug2", "shop/cart-2"}; !slices.Equal(pods, want) {
		t.Errorf("the order is %q", pods)
	}
}

func TestReasonsKeepTheLimitOfTheAPI(t *testing.T) {
	long := strings.Repeat("x", 253)
	s := newDrainTest(t, Order{}, newPod("shop/cart-1"))
	s.requests("evict cart-1")
	s.respond("cart-1", budgetError("The disruption budget "+long+" needs 3 healthy pods and has 3 currently"))
	got := s.progress(s.now).Blockers[0].Reason
	if len([]rune(got)) > 128 || !strings.HasPrefix(got, "PodDisruptionBudget shop/xxx") || !strings.HasSuffix(got, "… needs 3 healthy pods and has 3") {
		t.Errorf("the reason is %q", got)
	}
	s.handleResponse(task{key: key{Namespace: "shop", Name: "cart-1"}, uid: "uid-cart-1"}, response{kind: denied, message: long}, s.now)
	for _, b := range s.progress(s.now).Blockers {
		if n := len([]rune(b.Reason)); n > 128 || n == 0 {
			t.Errorf("%d characters: %s", n, b.Reason)
		}
	}
}

func TestLiveReadDiffersFromTheWatch(t *testing.T) {
	cart, web := newPod("shop/cart-1"), newPod("shop/web-1")
	terminating := newPod("shop/cart-1", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })
	for name, c := range map[string]struct {
		seen, live []*corev1.Pod
		stale      bool
	}{
		"both are empty":                   {nil, nil, false},
		"both have a pod":                  {[]*corev1.Pod{cart}, []*corev1.Pod{cart}, false},
		"a DaemonSet's pod does not count": {nil, []*corev1.Pod{newPod("x/y-1", ownedBy("DaemonSet", "y"))}, false},
		"it missed a pod":                  {nil, []*corev1.Pod{cart}, true},
		"it missed an end":                 {[]*corev1.Pod{cart, web}, []*corev1.Pod{web}, true},
		"it missed a deletion":             {[]*corev1.Pod{cart}, []*corev1.Pod{terminating}, true},
		"it missed a replacement":          {[]*corev1.Pod{cart}, []*corev1.Pod{newPod("shop/cart-1", func(p *corev1.Pod) { p.UID = "new" })}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newDrainTest(t, Order{}, c.seen...)
			s.handleLiveRead(c.live, classify(nil), s.now, s.now)
			if s.stale != c.stale || s.drained != (!c.stale && len(c.seen) == 0) {
				t.Errorf("stale: %t, drained: %t", s.stale, s.drained)
			}
			if !s.matches(c.live) {
				t.Error("what the live read saw is not maxWatchAge")
			}
		})
	}
}

func TestWhenALiveReadIsNeeded(t *testing.T) {
	s := &drainTest{view: newView(Order{}, start), t: t, now: start, sent: map[string]task{}}
	if s.needsLiveRead(s.now) {
		t.Error("a live read before the first list")
	}
	s.replace(nil)
	if !s.needsLiveRead(s.now) {
		t.Error("no live read of an empty node")
	}
	s.handleLiveRead([]*corev1.Pod{newPod("shop/cart-1")}, classify(nil), s.now, s.now)
	s.replace(nil)
	if s.needsLiveRead(s.now) {
		t.Error("a live read right after a stale one")
	}
	s.advance(time.Second)
	if !s.needsLiveRead(s.now) {
		t.Error("no live read after the backoff")
	}
	s.updatePod(newPod("shop/cart-1"))
	s.requests("evict cart-1")
	s.respond("cart-1", nil)
	s.advance(89 * time.Second)
	if s.needsLiveRead(s.now) {
		t.Error("a live read within the grace period")
	}
	s.advance(time.Second)
	if !s.needsLiveRead(s.now) {
		t.Error("no live read after the grace period")
	}
	s.handleLiveRead([]*corev1.Pod{newPod("shop/cart-1")}, classify(nil), s.now, s.now)
	s.advance(time.Second)
	if s.needsLiveRead(s.now) {
		t.Error("a second live read for the same pod")
	}
	s.handleLiveRead([]*corev1.Pod{newPod("shop/cart-1")}, classify(nil), s.now, s.now)
	s.requests("evict cart-1") // the eviction was accepted, but nothing deletes the pod
	s.advance(maxWatchAge)
	if !s.needsLiveRead(s.now) {
		t.Error("no live read of an old watch")
	}
}
