package traces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/otlp"
	"github.com/refit-dev/refit/internal/upgrade/trace"
)

var creation = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)

func at(minutes int) *metav1.Time {
	t := metav1.NewTime(creation.Add(time.Duration(minutes) * time.Minute))
	return &t
}

var first, second = refitv1alpha1.ReleaseRef{Name: "v1.36.3"}, refitv1alpha1.ReleaseRef{Name: "v1.37.1"}

func operation() *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "up", UID: "uid", CreationTimestamp: *at(0)}}
	u.Status.Plan = &refitv1alpha1.PlanSummary{
		To: "v1.37.1", Hops: []refitv1alpha1.Hop{{Kubernetes: "v1.36.3", Release: first}, {Kubernetes: "v1.37.1", Release: second}},
		Stages: []refitv1alpha1.StageSummary{
			{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Total: 1}, {Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3", Total: 1},
		},
	}
	u.Status.Active = []string{"cp-1"}
	return u
}

func ended(u *refitv1alpha1.ClusterUpgrade) *refitv1alpha1.ClusterUpgrade {
	u = u.DeepCopy()
	u.Status.Active, u.Status.Phase = nil, refitv1alpha1.PhaseSucceeded
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: *at(30)}}
	return u
}

func upgraded() *refitv1alpha1.NodeUpgrade {
	n := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	n.Spec = refitv1alpha1.NodeUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: "up", UID: "uid"}, Sequence: 3, Role: refitv1alpha1.RoleControlPlane, Release: first, Permit: refitv1alpha1.PermitApply,
	}
	n.Status = refitv1alpha1.NodeUpgradeStatus{ObservedSequence: 3, Phase: refitv1alpha1.NodeSucceeded, StartTime: at(10), CompletionTime: at(12), Steps: []refitv1alpha1.StepStatus{
		{Name: "verify-node", State: refitv1alpha1.StepDone, StartTime: at(10), CompletionTime: at(12)},
	}}
	return n
}

// recording is a recorder and the names of the spans that it exports.
type recording struct {
	*recorder

	names []string
	full  bool
}

func record(t *testing.T, minute int, objects ...client.Object) *recording {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	out := &recording{}
	offer := func(_ context.Context, spans []trace.Span) bool {
		for i := range spans {
			out.names = append(out.names, spans[i].Name)
		}
		return !out.full
	}
	cache := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	out.recorder = newRecorder(cache, offer, func() time.Time { return at(minute).Time })
	return out
}

// expect compares the spans that were exported since the last time.
func (r *recording) expect(t *testing.T, situation string, want ...string) {
	t.Helper()
	if !slices.Equal(r.names, want) {
		t.Errorf("%s: exported %q, want %q", situation, r.names, want)
	}
	r.names = nil
}

func TestANodeIsExportedOnceItIsReleased(t *testing.T) {
	u, n := operation(), upgraded()
	released := u.DeepCopy()
	released.Status.Active = nil
	r := record(t, 13, u, n)
	r.changed(t.Context(), nil, n)
	r.expect(t, "while the node is active")
	r.changed(t.Context(), u, released)
	r.expect(t, "when it is released", "upgrade cp-1", "verify-node")
	r.changed(t.Context(), u, released)
	r.changed(t.Context(), n, n)
	r.expect(t, "afterwards")
}

// The controller that releases the last node of a hop orders the next one at once.
func TestAReplacedOrderIsExportedBeforeItsStatusIsOverwritten(t *testing.T) {
	u, n := operation(), upgraded()
	next := n.DeepCopy()
	next.Spec.Release, next.Spec.Sequence, next.Spec.Permit = second, 4, refitv1alpha1.PermitPrefetch
	r := record(t, 13, u, next)
	r.changed(t.Context(), n, next)
	r.expect(t, "the order of the next hop", "upgrade cp-1", "verify-node")

	again := n.DeepCopy()
	again.Spec.Sequence, again.Spec.Epoch = 4, 2
	r = record(t, 13, u, again)
	r.changed(t.Context(), n, again)
	r.expect(t, "the same order of a new leader")

	r = record(t, 13, u)
	r.deleted(t.Context(), toolscache.DeletedFinalStateUnknown{Obj: n})
	r.expect(t, "a node that left the cluster", "upgrade cp-1", "verify-node")
}

func TestAMachineThatIsInstalledAgainUnderItsNameHasSpansOfItsOwn(t *testing.T) {
	for situation, change := range map[string]func(*refitv1alpha1.NodeUpgradeSpec){
		"another Node":    func(s *refitv1alpha1.NodeUpgradeSpec) { s.NodeUID = "another" },
		"another machine": func(s *refitv1alpha1.NodeUpgradeSpec) { s.MachineID = "another" },
	} {
		u, n := operation(), upgraded()
		again := n.DeepCopy()
		change(&again.Spec)
		again.Spec.Sequence = 4
		waits := again.DeepCopy()
		again.Status.ObservedSequence = 4
		u.Status.Active = nil
		r := record(t, 13, u, again)
		r.changed(t.Context(), n, waits)
		r.expect(t, situation+" is ordered", "upgrade cp-1", "verify-node")
		r.changed(t.Context(), waits, again)
		r.expect(t, situation+" is upgraded", "upgrade cp-1", "verify-node")
	}
}

func TestEverythingIsExportedWhenTheOperationEnds(t *testing.T) {
	u, n := operation(), upgraded()
	done := ended(u)
	r := record(t, 31, done, n)
	r.changed(t.Context(), u, done)
	r.expect(t, "the end", "upgrade to v1.37.1", "upgrade cp-1", "verify-node")
}

func TestANewLeaderExportsOnlyOperationsOfTheLastHour(t *testing.T) {
	done, n := ended(operation()), upgraded()
	for minute, want := range map[int][]string{
		31:  {"upgrade to v1.37.1", "upgrade cp-1", "verify-node"},
		90:  {"upgrade to v1.37.1", "upgrade cp-1", "verify-node"},
		120: nil,
	} {
		r := record(t, minute, done, n)
		r.changed(t.Context(), nil, done)
		r.changed(t.Context(), nil, n)
		r.expect(t, fmt.Sprint(minute, " minutes"), want...)
	}
}

func TestObjectsOfAnotherOperationOfTheSameNameAreNotExported(t *testing.T) {
	u, n := ended(operation()), upgraded()
	u.UID = "another"
	r := record(t, 31, u, n)
	r.changed(t.Context(), nil, n)
	r.expect(t, "a node")
}

func TestSpansThatFoundNoSpaceAreOfferedAgain(t *testing.T) {
	done := ended(operation())
	r := record(t, 31, done)
	r.full = true
	r.changed(t.Context(), nil, done)
	r.expect(t, "a full queue", "upgrade to v1.37.1")
	r.full = false
	r.changed(t.Context(), done, done)
	r.expect(t, "the next change", "upgrade to v1.37.1")
}

func TestABackupIsExportedWithItsOperation(t *testing.T) {
	u := operation()
	b := &refitv1alpha1.EtcdBackup{ObjectMeta: metav1.ObjectMeta{
		Name: "b", UID: "b", CreationTimestamp: *at(1), Labels: map[string]string{refitv1alpha1.LabelOperation: "uid", refitv1alpha1.LabelHop: "v1.36.3"},
	}}
	b.Spec.Operation, b.Status.Node = "up", "cp-1"
	b.Status.Uploaded, b.Status.ReadBack = at(2), at(3)
	r := record(t, 13, u)
	r.changed(t.Context(), nil, b)
	r.expect(t, "a backup", "back up cp-1", "store", "read-back")
}

// collector receives spans, or fails.
type collector struct {
	mu       sync.Mutex
	err      error
	attempts int
	spans    int
	hang     chan struct{} // a request waits until it is closed
}

func (c *collector) receive(ctx context.Context, spans []trace.Span) error {
	if c.hang != nil {
		select {
		case <-c.hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts++
	if c.err == nil {
		c.spans += len(spans)
	}
	return c.err
}

func (c *collector) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func valueOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

// sending is a sender that runs, and what it logs.
func sending(t *testing.T, c *collector) (s *sender, lines *[]string, stop func()) {
	t.Helper()
	lines = &[]string{}
	s = newSender(c.receive, funcr.New(func(_, args string) { *lines = append(*lines, args) }, funcr.Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(ctx)
	}()
	return s, lines, func() {
		cancel()
		<-ended
	}
}

func TestAnUnreachableCollectorIsLoggedOnceAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{err: errors.New("connection refused")}
		s, lines, stop := sending(t, c)
		defer stop()
		errorsBefore, exportedBefore := valueOf(t, exportErrors), valueOf(t, exported)
		s.offer(t.Context(), make([]trace.Span, 20))
		time.Sleep(2 * time.Minute)
		c.set(nil)
		time.Sleep(time.Minute)
		stop()
		if len(*lines) != 2 || !strings.Contains((*lines)[0], "connection refused") || !strings.Contains((*lines)[1], "again") {
			t.Errorf("logged %q", *lines)
		}
		if got := valueOf(t, exportErrors) - errorsBefore; got < 3 || got != float64(c.attempts-1) {
			t.Errorf("%v errors are counted of %d attempts", got, c.attempts)
		}
		if got := valueOf(t, exported) - exportedBefore; got != 20 || c.spans != 20 {
			t.Errorf("%v spans are counted, %d were received", got, c.spans)
		}
	})
}

func TestABatchIsDroppedWhenTheCollectorStaysUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{err: errors.New("connection refused")}
		s, _, stop := sending(t, c)
		defer stop()
		before := valueOf(t, dropped)
		s.offer(t.Context(), make([]trace.Span, 20))
		time.Sleep(giveUpAfter + 2*maxRetryInterval)
		if got := valueOf(t, dropped) - before; got != 20 {
			t.Errorf("%v spans were dropped", got)
		}
		attempts := c.attempts
		time.Sleep(time.Hour)
		if c.attempts != attempts || attempts > 40 {
			t.Errorf("%d attempts, then %d", attempts, c.attempts)
		}
	})
}

// A batch that the collector rejects must not keep later ones from it.
func TestARejectedBatchIsDroppedAtOnceAndLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{err: &otlp.RejectedError{Spans: 3}}
		s, lines, stop := sending(t, c)
		defer stop()
		droppedBefore, exportedBefore, errorsBefore := valueOf(t, dropped), valueOf(t, exported), valueOf(t, exportErrors)
		for range 2 {
			s.offer(t.Context(), make([]trace.Span, 20))
			synctest.Wait()
		}
		if c.attempts != 2 || len(*lines) != 1 || !strings.Contains((*lines)[0], "rejected") {
			t.Errorf("%d attempts, logged %q", c.attempts, *lines)
		}
		lost, sent, failed := valueOf(t, dropped)-droppedBefore, valueOf(t, exported)-exportedBefore, valueOf(t, exportErrors)-errorsBefore
		if lost != 6 || sent != 34 || failed != 2 {
			t.Errorf("%v dropped, %v exported, %v errors", lost, sent, failed)
		}
	})
}

// An informer must neither wait for a collector that is down nor grow without bounds.
func TestAFullQueueDropsAtOnceWhileTheCollectorIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{err: errors.New("connection refused")}
		s, _, stop := sending(t, c)
		defer stop()
		s.offer(t.Context(), make([]trace.Span, 1))
		synctest.Wait()
		began, refused := time.Now(), 0
		for range maxQueued + 10 {
			if !s.offer(t.Context(), make([]trace.Span, 1)) {
				refused++
			}
		}
		if refused != 10 || time.Since(began) != 0 {
			t.Errorf("%d offers were refused after %s", refused, time.Since(began))
		}
	})
}

func TestAFullQueueWaitsForACollectorThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{hang: make(chan struct{})}
		s, _, stop := sending(t, c)
		defer stop()
		for range maxQueued + 1 { // one is being sent
			s.offer(t.Context(), make([]trace.Span, maxBatch))
			synctest.Wait()
		}
		time.AfterFunc(time.Second, func() { close(c.hang) })
		if !s.offer(t.Context(), make([]trace.Span, 1)) {
			t.Error("it was refused")
		}
	})
}

func TestALeaderThatEndsSendsWhatIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{hang: make(chan struct{})}
		s, _, stop := sending(t, c)
		s.offer(t.Context(), make([]trace.Span, maxBatch))
		synctest.Wait()
		s.offer(t.Context(), make([]trace.Span, 3))
		close(c.hang)
		stop()
		if c.spans != maxBatch+3 {
			t.Errorf("%d spans were received", c.spans)
		}
	})
}

func TestTheEndOfALeaderIsNotDelayedByACollectorThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{hang: make(chan struct{})}
		s, _, stop := sending(t, c)
		for range 5 {
			s.offer(t.Context(), make([]trace.Span, maxBatch))
		}
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took > flushTimeout {
			t.Errorf("it took %s", took)
		}
	})
}
